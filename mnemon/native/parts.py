"""The parts of a cell as the kernels take them: how weights are laid out, and which numbers go with them."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from mnemon.controllers import (
    Controller,
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
    OriginalLSTMController,
)
from mnemon.interface import HeadwiseInterface, LinearInterface, NormalisedInterface
from mnemon.memory import DNCMemory, JoinedMemory, LRUAMemory, Memory, NoMemory, NTMMemory
from mnemon.programs import StoredProgramInterface


class Weights(NamedTuple):
    """A controller's weights as the kernels take them."""

    inputs: Tensor  # P (I + R·W), acts on [x, r]
    hidden: Tensor | None  # P H, acts on h
    bias: Tensor | None  # P
    extra: Tensor | None = None


def _plain(controller: Controller[Any]) -> Weights:
    """Both biases are one."""
    assert controller.bias_ih is not None
    assert controller.bias_hh is not None
    return Weights(controller.weight_ih, controller.weight_hh, controller.bias_ih + controller.bias_hh)


def _feed_forward(controller: Controller[Any]) -> Weights:
    """Nothing comes from h."""
    return Weights(controller.weight_ih, None, controller.bias_ih)


def _gated(controller: Controller[Any]) -> Weights:
    """The candidate's two parts stay apart, [r, z, n_x, n_h]: what comes from h is reset before they are added."""
    size = controller.hidden_size
    assert controller.weight_hh is not None
    assert controller.bias_ih is not None
    assert controller.bias_hh is not None

    def apart(gates_and_candidate: Tensor) -> Tensor:
        """Nothing for n_x."""
        gates, candidate = gates_and_candidate[: 2 * size], gates_and_candidate[2 * size :]
        return torch.cat([gates, torch.zeros_like(candidate), candidate])

    inputs = F.pad(controller.weight_ih, (0, 0, 0, size))  # nothing for n_h
    return Weights(
        inputs, apart(controller.weight_hh), F.pad(controller.bias_ih, (0, size)) + apart(controller.bias_hh)
    )


def _normalised(controller: Controller[Any]) -> Weights:
    """One bias at most beside those of the normalisations."""
    assert isinstance(controller, LayerNormLSTMController)
    extra = torch.cat([controller.norm_gain.flatten(), controller.norm_bias.flatten()])
    return Weights(controller.weight_ih, controller.weight_hh, controller.bias_ih, extra)


ALWAYS = 1e4  # before a sigmoid: 1, with no slope


def _unforgetting(controller: Controller[Any]) -> Weights:
    """[i, g, o] with a forget gate, [i, f, g, o], that is always open."""
    size = controller.hidden_size
    plain = _plain(controller)
    assert plain.hidden is not None
    assert plain.bias is not None

    def with_gate(rows: Tensor, value: float = 0.0) -> Tensor:
        return torch.cat([rows[:size], torch.full_like(rows[:size], value), rows[size:]])

    return Weights(with_gate(plain.inputs), with_gate(plain.hidden), with_gate(plain.bias, ALWAYS))


CONTROLLERS: dict[type[Controller[Any]], tuple[str, Callable[[Controller[Any]], Weights]]] = {
    LSTMController: ("lstm", _plain),
    OriginalLSTMController: ("lstm", _unforgetting),
    LayerNormLSTMController: ("layer_norm_lstm", _normalised),
    GRUController: ("gru", _gated),
    ElmanController: ("tanh", _plain),
    FeedForwardController: ("tanh", _feed_forward),
}


def _ntm(memory: NTMMemory) -> dict[str, Any]:
    return {"writes": memory.writes, "shift_reach": memory.shift_reach, "read_first": memory.read_first}


def dnc_options(memory: DNCMemory) -> dict[str, Any]:
    """What the kernels are told of it but for its sizes."""
    options = ("links", "masked_lookup", "erase_freed", "sharp_links", "read_first")
    first, end = memory.own or (0, 0)
    own = {"own_first": first, "own_end": end}
    return {"writes": 1, "clip": memory.clip or 0.0} | own | {name: getattr(memory, name) for name in options}


def _lrua(memory: LRUAMemory) -> dict[str, Any]:
    return {"strengths": memory.strengths, "decay": memory.decay, "read_first": memory.read_first}


def _joined(memory: JoinedMemory) -> dict[str, Any]:
    """Slots and words of one, heads of all."""
    one, count = memory.memories[0], len(memory.memories)
    assert isinstance(one, DNCMemory)
    return {**dnc_options(one), "parts": count, "slots": one.slots, "word": one.word, "reads": count * one.reads}


MEMORIES: dict[type[Any], tuple[str, Callable[[Any], dict[str, Any]]]] = {
    NTMMemory: ("ntm", _ntm),
    DNCMemory: ("dnc", dnc_options),
    LRUAMemory: ("lrua", _lrua),
    NoMemory: ("none", lambda _: {}),
    JoinedMemory: ("joined", _joined),
}


def sizes_of(memory: Memory[Any, Any]) -> dict[str, Any]:
    """Of its vector, and of what it holds."""
    return {"interface": memory.interface_size, "slots": memory.slots, "word": memory.word, "reads": memory.reads}


class InterfaceWeights(NamedTuple):
    """An interface's weights as the kernels take them."""

    weight: Tensor  # Z H
    bias: Tensor | None  # Z
    keys: Tensor | None  # S P K
    ends: Tensor | None  # S, where each store's part of the interface vector ends
    options: dict[str, Any]
    extra: Tensor | None = None


def _linear(interface: LinearInterface) -> InterfaceWeights:
    return InterfaceWeights(interface.weight, interface.bias, None, None, {})


def _headwise(interface: HeadwiseInterface) -> InterfaceWeights:
    """The heads' weights as those of one interface."""
    heads = cast(Iterable[LinearInterface], interface.heads)
    biases = [head.weight.new_zeros(len(head.weight)) if head.bias is None else head.bias for head in heads]
    return InterfaceWeights(torch.cat([head.weight for head in heads]), torch.cat(biases), None, None, {})


def _stored(interface: StoredProgramInterface) -> InterfaceWeights:
    """The programs, and after them the queries."""
    keys = interface.keys
    own, asked = interface.weight, keys.query_weight
    biases = [(own, interface.bias), (asked, keys.query_bias)]
    bias = torch.cat([(of.new_zeros(of.shape[:2]) if one is None else one).flatten() for of, one in biases])
    options = {
        "programs": keys.programs,
        "stores": len(interface.head_sizes),
        "key": keys.key_size,
        "squashed_keys": keys.look_up.similarity == "tanh-cosine",
        "drawn": keys.look_up.choice == "gumbel",
        "temperature": keys.look_up.temperature if keys.look_up.choice == "gumbel" else 1.0,
    }
    return InterfaceWeights(
        torch.cat([own.flatten(0, 1), asked.flatten(0, 1)]),
        bias,
        keys.compared(keys.vectors),
        torch.tensor(interface.head_sizes).cumsum(0),
        options,
    )


def _normalised_vector(interface: NormalisedInterface) -> InterfaceWeights:
    inner = INTERFACES[type(interface.interface)](interface.interface)
    extra = torch.cat([interface.norm_gain, interface.norm_bias])
    return inner._replace(options=inner.options | {"normalised": True}, extra=extra)


INTERFACES: dict[type[Any], Callable[[Any], InterfaceWeights]] = {
    LinearInterface: _linear,
    HeadwiseInterface: _headwise,
    StoredProgramInterface: _stored,
    NormalisedInterface: _normalised_vector,
}
