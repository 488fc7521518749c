"""The models of views: encoder-decoders with and without memories (thesis §3.1.2, §3.2.1, §4.3, §4.4)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from mnemon.cell import MemoryCell
from mnemon.errors import UserError
from mnemon.interface import HeadwiseInterface, LinearInterface
from mnemon.memory import AttentionMemory, DNCMemory, JoinedMemory, Memory, NoMemory, WriteCache
from mnemon.models.config import ModelConfig, ModelEntry, make_controller
from mnemon.models.decoder import SequenceDecoder, SetDecoder
from mnemon.models.deepcare import DeepCare
from mnemon.models.encoder import EarlyFusion, LateFusion, ViewEncoder
from mnemon.models.encoder_decoder import Concatenated, EncoderDecoder
from mnemon.views import ViewSizes
from mnemon.writing import RegularWriting, WriteProtected, Writing

EMBEDDING = 64  # numbers of a token, where none are asked for


def view_cell(config: ModelConfig, memory: Memory[Any, Any], **options: Any) -> MemoryCell:
    """A cell that reads embedded tokens."""
    interface = options.pop("interface", None) or LinearInterface(bias=config.biases)
    controller = make_controller(config, config.embedding or EMBEDDING, config.hidden)
    return MemoryCell(controller, memory, interface=interface, output_bias=config.biases, **options)


def _decoder(
    config: ModelConfig, sizes: ViewSizes, output_size: int, memory: Memory[Any, Any], writing: Writing[Any]
) -> SequenceDecoder | SetDecoder:
    """A decoder with a controller of its own, as large as those of all views."""
    hidden = len(sizes.views) * config.hidden
    if sizes.answer == "set":
        return SetDecoder(memory, hidden, output_size)
    controller = make_controller(config, config.embedding or EMBEDDING, hidden)
    interface = LinearInterface(bias=config.biases)
    cell = MemoryCell(
        controller, memory, interface=interface, writing=writing, output_size=output_size, output_bias=config.biases
    )
    return SequenceDecoder(cell, feedback=config.feedback is not False)


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
    views = [ViewEncoder(tokens, view_cell(config, memory())) for tokens in sizes.views]
    opened = [(read or memory)() for _ in sizes.views]
    joined = opened[0] if len(opened) == 1 else JoinedMemory(opened)
    decoder = _decoder(config, sizes, output_size, joined, writing or WriteProtected())
    return EncoderDecoder(LateFusion(views), [decoder])


def dnc_memory(config: ModelConfig) -> DNCMemory:
    """The memory of one view."""
    return DNCMemory(config.slots, config.word, config.heads)


def _seq2seq(config: ModelConfig, sizes: ViewSizes, output_size: int) -> EncoderDecoder:
    views = [ViewEncoder(tokens, view_cell(config, NoMemory())) for tokens in sizes.views]
    decoder = _decoder(config, sizes, output_size, NoMemory(), RegularWriting())
    return EncoderDecoder(LateFusion(views), [decoder])


def _attentive(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    attention = partial(AttentionMemory, config.hidden, config.hidden)
    return _late(config, sizes, output_size, NoMemory, read=attention)


def _dc_mann(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    memory = partial(dnc_memory, config)
    return _in_a_row(sizes, lambda one: _late(config, one, output_size, memory, writing=RegularWriting()))


def _dcw_mann(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _in_a_row(sizes, lambda one: _dmnc_late(config, one, output_size))


def _dmnc_late(config: ModelConfig, sizes: ViewSizes, output_size: int) -> EncoderDecoder:
    return _late(config, sizes, output_size, partial(dnc_memory, config))


def _dmnc_early(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    count, reading = len(sizes.views), LinearInterface(bias=config.biases)
    views = []
    for number, tokens in enumerate(sizes.views):
        own = (number * config.slots, (number + 1) * config.slots)
        memory = WriteCache(DNCMemory(count * config.slots, config.word, config.heads, own=own))
        interface = HeadwiseInterface([reading, LinearInterface(bias=config.biases)])
        views.append(ViewEncoder(tokens, view_cell(config, memory, interface=interface)))
    opened = [dnc_memory(config) for _ in views]
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
            cell = view_cell(config, dnc_memory(config))
            decoder: SequenceDecoder | SetDecoder = SetDecoder(cell.memory, config.hidden, output_size)
        else:
            cell = view_cell(config, dnc_memory(config), output_size=output_size)
            decoder = SequenceDecoder(cell.with_writing(writing), feedback=config.feedback is not False)
        return EncoderDecoder(LateFusion([ViewEncoder(one.views[0], cell)]), [decoder])

    return _in_a_row(sizes, build)


def _concatenated_seq2seq(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _in_a_row(sizes, lambda one: _seq2seq(config, one, output_size))


def _in_a_row(sizes: ViewSizes, build: Callable[[ViewSizes], EncoderDecoder]) -> nn.Module:
    if len(sizes.views) == 1:
        return build(sizes)
    return Concatenated(build(ViewSizes((sum(sizes.views),), sizes.answer)), sizes.views)


def _deepcare(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    if sizes.answer != "set":
        raise UserError("deepcare answers with a set: write another model for a task that asks for a sequence")
    return DeepCare(sizes.views, config.embedding or EMBEDDING, config.hidden, output_size)


def _entry_of_views(summary: str, thesis: str, build: Callable[[ModelConfig, Any, int], nn.Module]) -> ModelEntry:
    file = "mnemon/models/encoder_decoder.py"
    return ModelEntry(summary, thesis, file, build, reads_views=True, has_feedback=True)


OF_VIEWS: dict[str, ModelEntry] = {
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
        has_layers=False,
    ),
}
