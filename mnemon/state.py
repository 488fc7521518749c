"""States are nested NamedTuples of tensors whose first axis is the batch; these functions treat one as a whole.

Nothing about a sequence lives on a module: a state goes in, a new one comes out. So keeping, cutting, joining or
masking a sequence's past is a matter of mapping a function over the tensors of its state.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import torch
from jaxtyping import Bool
from torch import Tensor

S = TypeVar("S", bound=tuple[Any, ...] | Tensor)


def map_state(function: Callable[..., Tensor], *states: S) -> S:
    """Apply ``function`` to the corresponding tensors of one or more states of the same type."""

    def visit(*parts: Any) -> Any:
        if isinstance(parts[0], Tensor):
            return function(*parts)
        visited = (visit(*fields) for fields in zip(*parts, strict=True))
        kind = type(parts[0])
        return tuple(visited) if kind is tuple else kind(*visited)  # nn.LSTM's state is a plain tuple

    return cast(S, visit(*states))


def select(state: S, rows: int | slice | Sequence[int] | Tensor) -> S:
    """The state of some samples of a batch: ``select(state, 3)``, ``select(state, [0, 2])``, a mask or a slice.

    A single number keeps the batch axis, so that the result is the state of a batch of one.
    """
    chosen = slice(rows, rows + 1 or None) if isinstance(rows, int) else rows
    index = torch.as_tensor(chosen) if isinstance(chosen, Sequence) else chosen
    return map_state(lambda part: part[index], state)


def join(states: Sequence[S]) -> S:
    """One state for the joined batch: the inverse of selecting each sample."""
    return map_state(lambda *parts: torch.cat(parts), *states)


def detach(state: S) -> S:
    """Cut the gradient: for truncated backpropagation through time."""
    return map_state(Tensor.detach, state)


def size_in_bytes(state: Any) -> int:
    """What a state takes: a tensor, or tuples of them; of a batch of one, what a sequence's past is kept in."""
    if isinstance(state, Tensor):
        return state.numel() * state.element_size()
    return sum(size_in_bytes(part) for part in state)


def where(rows: Bool[Tensor, "B"], new: S, old: S) -> S:
    """``new`` for the rows that are true, ``old`` for the others: how padded rows stand still."""

    def choose(after: Tensor, before: Tensor) -> Tensor:
        if after is before:
            return after
        return torch.where(rows.view(-1, *(1,) * (after.dim() - 1)), after, before)

    return map_state(choose, new, old)
