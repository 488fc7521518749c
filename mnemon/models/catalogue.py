"""The models by name: what ``mnemon list models`` shows and ``mnemon train --model`` builds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn

from mnemon.cell import MemoryCell
from mnemon.controllers import (
    Controller,
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
)
from mnemon.errors import UserError, look_up
from mnemon.interface import HeadwiseInterface, Interface, LinearInterface
from mnemon.memory import (
    AttentionMemory,
    DNCMemory,
    JoinedMemory,
    LRUAMemory,
    Memory,
    NoMemory,
    NTMMemory,
    WriteCache,
)
from mnemon.memory.base import check_sizes
from mnemon.models.baseline import LSTMBaseline
from mnemon.models.decoder import SequenceDecoder, SetDecoder
from mnemon.models.deepcare import DeepCare
from mnemon.models.encoder import EarlyFusion, LateFusion, ViewEncoder
from mnemon.models.encoder_decoder import Concatenated, EncoderDecoder
from mnemon.programs import LookUp, StoredProgramInterface
from mnemon.rnn import MANN
from mnemon.views import ViewSizes
from mnemon.writing import (
    CachedUniformWriting,
    RandomWriting,
    RegularWriting,
    UniformWriting,
    WriteProtected,
    Writing,
)

CONTROLLERS: dict[str, type[Controller[Any]]] = {
    "lstm": LSTMController,
    "layer-norm-lstm": LayerNormLSTMController,
    "gru": GRUController,
    "elman": ElmanController,
    "feed-forward": FeedForwardController,
}

EMBEDDING = 64  # numbers of a token, where none are asked for
PROGRAM_CHOICES: dict[str, LookUp] = {"softmax": LookUp(), "gumbel": LookUp(choice="gumbel")}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and how large. The baseline uses the hidden size only."""

    name: str = "ntm"
    controller: str = "lstm"
    hidden: int = 100
    slots: int = 128
    word: int = 20
    heads: int = 1  # read heads, and as many write heads where the memory has several
    biases: bool = True  # of the interface and the read-out
    writing: str = "regular"
    interval: int | None = None  # steps from write to write; uniform writing can take it from slots and encoded
    encoded: int | None = None  # steps of the sequence to store; every later step writes
    programs: int | None = None  # stored for each head; None: 2, or none where the model stores no programs
    program_key: int | None = None  # size of a program's key; None: as many numbers as programs
    program_choice: str | None = None  # "softmax", a mixture; "gumbel", one of them at a time; None: a mixture
    embedding: int | None = None  # of a token, where the model reads views; None: 64

    def __post_init__(self) -> None:
        look_up(MODELS, self.name, "model")
        look_up(CONTROLLERS, self.controller, "controller")
        look_up(WRITINGS, self.writing, "writing")
        check_sizes(hidden=self.hidden, slots=self.slots, word=self.word, heads=self.heads)
        if self.writing != "regular" and not MODELS[self.name].has_memory:
            raise UserError(f"model {self.name!r} has no memory to write: leave out writing={self.writing!r}")
        if not MODELS[self.name].has_programs:
            for field in ("programs", "program_key", "program_choice"):
                if getattr(self, field) is not None:
                    raise UserError(f"model {self.name!r} stores no programs: leave out {field}, or write name='nutm'")
        if self.embedding is not None and not MODELS[self.name].reads_views:
            raise UserError(f"model {self.name!r} embeds no tokens: leave out embedding, or write name='dcw-mann'")
        if self.writing != "regular" and MODELS[self.name].reads_views:
            raise UserError(f"model {self.name!r} says itself when it writes: leave out writing={self.writing!r}")
        if self.program_choice is not None:
            look_up(PROGRAM_CHOICES, self.program_choice, "program choice")
        check_sizes(
            programs=1 if self.programs is None else self.programs,
            program_key=1 if self.program_key is None else self.program_key,
            embedding=1 if self.embedding is None else self.embedding,
        )
        with torch.random.fork_rng(devices=[]):  # random writing draws
            make_writing(self)  # refuses settings that do not go together


def _uniform(config: ModelConfig) -> Writing[Any]:
    slots = config.slots if config.interval is None else None
    return UniformWriting(config.interval, slots=slots, length=config.encoded)


def _cached(config: ModelConfig) -> Writing[Any]:
    if config.interval is None:
        raise UserError("cached writing needs an interval: write interval=5")
    return CachedUniformWriting(config.interval, length=config.encoded)


def _random(config: ModelConfig) -> Writing[Any]:
    if config.encoded is None:
        raise UserError("random writing needs the steps of the sequence to store: write encoded=50")
    return RandomWriting(config.slots, config.encoded)


WRITINGS: dict[str, Callable[[ModelConfig], Writing[Any]]] = {
    "regular": lambda _: RegularWriting(),
    "uniform": _uniform,
    "cached": _cached,
    "random": _random,
}


def make_writing(config: ModelConfig) -> Writing[Any]:
    """When the model writes its memory."""
    return WRITINGS[config.writing](config)


def make_interface(config: ModelConfig) -> Interface:
    """How the controller steers the memory: by one linear map, or by stored programs."""
    if not MODELS[config.name].has_programs:
        return LinearInterface(bias=config.biases)
    programs = 2 if config.programs is None else config.programs
    key_size = programs if config.program_key is None else config.program_key
    found_by = PROGRAM_CHOICES[config.program_choice or "softmax"]
    return StoredProgramInterface(programs, key_size, bias=config.biases, look_up=found_by)


class ModelEntry(NamedTuple):
    """One model of the catalogue."""

    summary: str
    thesis: str  # where the thesis describes it
    file: str
    build: Callable[[ModelConfig, Any, int], nn.Module]  # (config, input size or sizes of the views, output size)
    has_memory: bool = True
    has_programs: bool = False  # of the interface
    reads_views: bool = False


def build_model(config: ModelConfig, input_size: int | ViewSizes, output_size: int) -> nn.Module:
    """The model, initialised from torch's global random numbers."""
    entry = MODELS[config.name]
    if entry.reads_views != isinstance(input_size, ViewSizes):
        fitting = ", ".join(name for name, other in MODELS.items() if other.reads_views != entry.reads_views)
        wanted = "views of tokens" if entry.reads_views else "one sequence of numbers"
        raise UserError(f"model {config.name!r} reads {wanted}, which this task has not: write one of {fitting}")
    return entry.build(config, input_size, output_size)


def _recurrent(config: ModelConfig, memory: Memory[Any, Any], input_size: int, output_size: int) -> MANN:
    controller_type = CONTROLLERS[config.controller]
    learned = isinstance(memory, NTMMemory) and controller_type.recurrent  # as the NTM family was published
    controller = controller_type(input_size, config.hidden, learned_state=learned)
    return MANN(
        MemoryCell(
            controller,
            memory,
            interface=make_interface(config),
            writing=make_writing(config),
            output_size=output_size,
            output_bias=config.biases,
        )
    )


def _ntm(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    # the author's order, read before write: trained on short sequences, it holds up on longer ones more often
    memory = NTMMemory(config.slots, config.word, config.heads, config.heads, read_first=True)
    return _recurrent(config, memory, input_size, output_size)


def _dnc(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _recurrent(config, DNCMemory(config.slots, config.word, config.heads), input_size, output_size)


def _dnc_without_links(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    memory = DNCMemory(config.slots, config.word, config.heads, links=False)
    return _recurrent(config, memory, input_size, output_size)


def _dnc_repaired(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    memory = DNCMemory(config.slots, config.word, config.heads, masked_lookup=True, erase_freed=True, sharp_links=True)
    return _recurrent(config, memory, input_size, output_size)


def _lrua(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _recurrent(config, LRUAMemory(config.slots, config.word, config.heads), input_size, output_size)


def _lstm(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return LSTMBaseline(input_size, config.hidden, output_size)


def _without_memory(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _recurrent(config, NoMemory(), input_size, output_size)


def _controller(config: ModelConfig, input_size: int, hidden: int) -> Controller[Any]:
    return CONTROLLERS[config.controller](input_size, hidden)


def _view_cell(config: ModelConfig, memory: Memory[Any, Any], **options: Any) -> MemoryCell:
    interface = options.pop("interface", None) or LinearInterface(bias=config.biases)
    controller = _controller(config, config.embedding or EMBEDDING, config.hidden)
    return MemoryCell(controller, memory, interface=interface, output_bias=config.biases, **options)


def _decoder(
    config: ModelConfig, sizes: ViewSizes, output_size: int, memory: Memory[Any, Any], writing: Writing[Any]
) -> SequenceDecoder | SetDecoder:
    """A decoder with a controller of its own, as large as those of all views."""
    hidden = len(sizes.views) * config.hidden
    if sizes.answer == "set":
        return SetDecoder(memory, hidden, output_size)
    controller = _controller(config, config.embedding or EMBEDDING, hidden)
    interface = LinearInterface(bias=config.biases)
    cell = MemoryCell(
        controller, memory, interface=interface, writing=writing, output_size=output_size, output_bias=config.biases
    )
    return SequenceDecoder(cell)


def _late(
    config: ModelConfig,
    sizes: ViewSizes,
    output_size: int,
    memory: Callable[[], Memory[Any, Any]],
    *,
    read: Callable[[], Memory[Any, Any]] | None = None,
    writing: Writing[Any] | None = None,
) -> EncoderDecoder:
    """Views by themselves; the decoder reads what they left, or what ``read`` makes of it."""
    views = [ViewEncoder(tokens, _view_cell(config, memory())) for tokens in sizes.views]
    opened = [(read or memory)() for _ in sizes.views]
    joined = opened[0] if len(opened) == 1 else JoinedMemory(opened)
    decoder = _decoder(config, sizes, output_size, joined, writing or WriteProtected())
    return EncoderDecoder(LateFusion(views), [decoder])


def _dnc_memory(config: ModelConfig) -> DNCMemory:
    return DNCMemory(config.slots, config.word, config.heads)


def _seq2seq(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    views = [ViewEncoder(tokens, _view_cell(config, NoMemory())) for tokens in sizes.views]
    decoder = _decoder(config, sizes, output_size, NoMemory(), RegularWriting())
    return EncoderDecoder(LateFusion(views), [decoder])


def _attentive(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    attention = partial(AttentionMemory, config.hidden, config.hidden)
    return _late(config, sizes, output_size, NoMemory, read=attention)


def _dc_mann(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    _check_one_view(config, sizes)
    return _late(config, sizes, output_size, partial(_dnc_memory, config), writing=RegularWriting())


def _dcw_mann(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    _check_one_view(config, sizes)
    return _dmnc_late(config, sizes, output_size)


def _check_one_view(config: ModelConfig, sizes: ViewSizes) -> None:
    if len(sizes.views) > 1:
        raise UserError(f"model {config.name!r} reads one view, not {len(sizes.views)}: write dmnc-late or dmnc-early")


def _dmnc_late(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _late(config, sizes, output_size, partial(_dnc_memory, config))


def _dmnc_early(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    count, reading = len(sizes.views), LinearInterface(bias=config.biases)
    views = []
    for number, tokens in enumerate(sizes.views):
        own = (number * config.slots, (number + 1) * config.slots)
        memory = WriteCache(DNCMemory(count * config.slots, config.word, config.heads, own=own))
        interface = HeadwiseInterface([reading, LinearInterface(bias=config.biases)])
        views.append(ViewEncoder(tokens, _view_cell(config, memory, interface=interface)))
    opened = [_dnc_memory(config) for _ in views]
    joined = opened[0] if count == 1 else JoinedMemory(opened)
    decoder = _decoder(config, sizes, output_size, joined, WriteProtected())
    return EncoderDecoder(EarlyFusion(views), [decoder])


def _dnc_single(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _single(config, sizes, output_size, RegularWriting())


def _dnc_write_protected(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _single(config, sizes, output_size, WriteProtected())


def _single(config: ModelConfig, sizes: ViewSizes, output_size: int, writing: Writing[Any]) -> nn.Module:
    """One controller for encoding and decoding; several views are read one after the other."""

    def build(one: ViewSizes) -> EncoderDecoder:
        if one.answer == "set":
            cell = _view_cell(config, _dnc_memory(config))
            decoder: SequenceDecoder | SetDecoder = SetDecoder(cell.memory, config.hidden, output_size)
        else:
            cell = _view_cell(config, _dnc_memory(config), output_size=output_size)
            decoder = SequenceDecoder(cell.with_writing(writing))
        return EncoderDecoder(LateFusion([ViewEncoder(one.views[0], cell)]), [decoder])

    return _in_a_row(sizes, build)


def _concatenated_seq2seq(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    def build(one: ViewSizes) -> EncoderDecoder:
        model = _seq2seq(config, one, output_size)
        assert isinstance(model, EncoderDecoder)
        return model

    return _in_a_row(sizes, build)


def _in_a_row(sizes: ViewSizes, build: Callable[[ViewSizes], EncoderDecoder]) -> nn.Module:
    if len(sizes.views) == 1:
        return build(sizes)
    return Concatenated(build(ViewSizes((sum(sizes.views),), sizes.answer)), sizes.views)


def _deepcare(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    if sizes.answer != "set":
        raise UserError("deepcare answers with a set: write another model for a task that asks for a sequence")
    return DeepCare(sizes.views, config.embedding or EMBEDDING, config.hidden, output_size)


def _entry_of_views(summary: str, thesis: str, build: Callable[[ModelConfig, Any, int], nn.Module]) -> ModelEntry:
    return ModelEntry(summary, thesis, "mnemon/models/encoder_decoder.py", build, reads_views=True)


MODELS: dict[str, ModelEntry] = {
    "ntm": ModelEntry("Neural Turing Machine", "§3.3.3, §7.4", "mnemon/memory/ntm.py", _ntm),
    "dnc": ModelEntry("Differentiable Neural Computer", "§3.3.4", "mnemon/memory/dnc.py", _dnc),
    "dnc-no-links": ModelEntry(
        "DNC without temporal links, linear in its slots", "§3.3.4, §7.4.5", "mnemon/memory/dnc.py", _dnc_without_links
    ),
    "dnc-repaired": ModelEntry(
        "DNC with masked look-up, erased frees and sharpened links", "beyond", "mnemon/memory/dnc.py", _dnc_repaired
    ),
    "lrua": ModelEntry("Least recently used access", "§7.4.4", "mnemon/memory/lrua.py", _lrua),
    "nutm": ModelEntry(
        "Neural Universal Turing Machine: NTM with stored programs", "§7.3", "mnemon/programs.py", _ntm, True, True
    ),
    "nutm-dnc": ModelEntry("DNC with stored programs", "§7.4.5", "mnemon/programs.py", _dnc, True, True),
    "nutm-dnc-no-links": ModelEntry(
        "DNC with stored programs, without temporal links",
        "§7.4.5",
        "mnemon/programs.py",
        _dnc_without_links,
        True,
        True,
    ),
    "nutm-lrua": ModelEntry(
        "Least recently used access with stored programs", "§7.4.4", "mnemon/programs.py", _lrua, True, True
    ),
    "lstm": ModelEntry("LSTM baseline without a memory", "§3.1.1", "mnemon/models/baseline.py", _lstm, False),
    "no-memory": ModelEntry(
        "A controller of any kind without a memory", "§3.1", "mnemon/memory/none.py", _without_memory, False
    ),
    "seq2seq": _entry_of_views("Encoder and decoder without a memory; Dual LSTM of two views", "§3.1.2", _seq2seq),
    "seq2seq-attention": _entry_of_views(
        "The same with attention to each view; WLAS of two views", "§3.2.1, §4.5.3", _attentive
    ),
    "seq2seq-concatenated": _entry_of_views("One encoder that reads view after view", "§4.5.3", _concatenated_seq2seq),
    "dnc-single": _entry_of_views("DNC whose one controller encodes and decodes", "§4.5.1", _dnc_single),
    "dnc-write-protected": _entry_of_views("The same, not writing while it decodes", "§4.5.1", _dnc_write_protected),
    "dc-mann": _entry_of_views("Dual controllers over one memory", "§4.3", _dc_mann),
    "dcw-mann": _entry_of_views("Dual controllers, the decoder write-protected", "§4.3", _dcw_mann),
    "dmnc-late": _entry_of_views("A memory for each view, joined by the decoder", "§4.4", _dmnc_late),
    "dmnc-early": _entry_of_views("A memory for each view, in one address space", "§4.4", _dmnc_early),
    "deepcare": ModelEntry(
        "LSTM over admissions, whose interventions act on what is remembered",
        "§4.5.5",
        "mnemon/models/deepcare.py",
        _deepcare,
        has_memory=False,
        reads_views=True,
    ),
}
