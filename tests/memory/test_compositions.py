"""Memories made of others: side by side, behind a cache, and a sequence that is read like one."""

import copy
import math
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import LSTMController, MemoryCell, UserError
from mnemon.memory import AttentionMemory, DNCMemory, JoinedMemory, Memory, NTMMemory, WriteCache
from mnemon.memory.base import advance_in_torch
from mnemon.memory.joined import Joined
from mnemon.native import engine as native
from mnemon.rnn import MANN
from mnemon.state import map_state

DOUBLE = torch.float64


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)


def test_joined_memories_are_as_each_alone() -> None:
    parts: list[Memory[Any, Any]] = [DNCMemory(4, 3, 2), NTMMemory(5, 2, 1, 1)]
    joined = JoinedMemory(parts)
    assert joined.read_size == 2 * 3 + 1 * 2
    assert joined.head_sizes == (*parts[0].head_sizes, *parts[1].head_sizes)
    state, alone = joined.init_state(2, dtype=DOUBLE), [part.init_state(2, dtype=DOUBLE) for part in parts]
    for step in range(3):
        vector = randn(2, joined.interface_size, seed=step)
        state = joined(joined.parse(vector), state)
        cut = vector.split_with_sizes([part.interface_size for part in parts], dim=1)
        alone = [part(part.parse(own), before) for part, own, before in zip(parts, cut, alone, strict=True)]
    for together, by_itself in zip(state, alone, strict=True):
        map_state(lambda a, b: torch.testing.assert_close(a, b) or a, together, by_itself)
    assert torch.equal(state.reads.flatten(1), torch.cat([own.reads.flatten(1) for own in alone], dim=1))


def test_joined_states_copy_and_pickle() -> None:
    state = JoinedMemory([DNCMemory(4, 3), DNCMemory(2, 3)]).init_state(2)
    for other in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert isinstance(other, Joined)
        assert torch.equal(other.reads, state.reads)


def test_no_memories_are_refused() -> None:
    with pytest.raises(UserError, match="at least one memory"):
        JoinedMemory([])


def run(cell: MemoryCell, engine: str) -> tuple[Tensor, list[Tensor]]:
    rnn = MANN(cell, engine=engine)  # type: ignore[arg-type]
    inputs = randn(6, 3, 2, seed=9).requires_grad_()
    output, _ = rnn(inputs, lengths=torch.tensor([6, 2, 4]))
    return output, list(torch.autograd.grad(output.sin().sum(), [inputs, *cell.parameters()]))


@pytest.mark.parametrize("kind", ["joined", "cached", "joined and cached"])
def test_engines_agree(kind: str) -> None:
    torch.manual_seed(0)
    memories: dict[str, Memory[Any, Any]] = {
        "joined": JoinedMemory([DNCMemory(4, 3, 2), NTMMemory(5, 2, 1, 1)]),
        "cached": WriteCache(DNCMemory(4, 3, 2)),
        "joined and cached": JoinedMemory([WriteCache(DNCMemory(4, 3)), DNCMemory(3, 2)]),
    }
    memory = memories[kind]
    cell = MemoryCell(LSTMController(2, 5, dtype=DOUBLE), memory, output_size=2)
    assert native.why_no_step(cell, randn(1)) is None
    (fast, fast_grads), (slow, slow_grads) = run(cell, "auto"), run(cell, "reference")
    torch.testing.assert_close(fast, slow, rtol=1e-10, atol=1e-12)
    for a, b in zip(fast_grads, slow_grads, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


def test_the_cache_against_its_equation() -> None:
    memory = WriteCache(DNCMemory(4, 3))
    inner = memory.memory
    state, plain = memory.init_state(2, dtype=DOUBLE), inner.init_state(2, dtype=DOUBLE)
    cache = torch.zeros(2, 3, dtype=DOUBLE)
    for step in range(4):
        vector = 3 * randn(2, memory.interface_size, seed=step)
        own, gate = vector[:, :-3], vector[:, -3:]
        write = step != 2
        parsed = inner.parse(own)
        for b in range(2):
            for w in range(3):
                g = 1 / (1 + math.exp(-gate[b, w]))
                if write:
                    cache[b, w] = g * cache[b, w] + (1 - g) * parsed.write_vector[b, w]
        plain = inner(parsed._replace(write_vector=cache.clone()), plain, write)
        state = memory.step(vector, state, write, advance_in_torch)
        torch.testing.assert_close(state.cache, cache)
        map_state(lambda a, b: torch.testing.assert_close(a, b) or a, state.memory, plain)


def test_a_closed_cache_gate_writes_what_is_wanted_now() -> None:
    memory = WriteCache(DNCMemory(4, 3))
    vector = randn(2, memory.interface_size)
    vector[:, -3:] = -1e4
    state = memory(memory.parse(vector), memory.init_state(2, dtype=DOUBLE))
    plain = memory.memory(memory.memory.parse(vector[:, :-3]), memory.memory.init_state(2, dtype=DOUBLE))
    torch.testing.assert_close(state.memory.memory, plain.memory)


def test_own_slots_are_a_smaller_memory_for_writing() -> None:
    part, small = DNCMemory(6, 3, own=(2, 5)), DNCMemory(3, 3)
    big, own = part.init_state(2, dtype=DOUBLE), small.init_state(2, dtype=DOUBLE)
    for step in range(4):
        vector = 2 * randn(2, part.interface_size, seed=step)
        # what is freed depends on what was read, and reading sees all slots: read nothing in both
        big, own = (state._replace(read_weights=torch.zeros_like(state.read_weights)) for state in (big, own))
        big, own = part(part.parse(vector), big), small(small.parse(vector), own)
        torch.testing.assert_close(big.write_weights[:, 2:5], own.write_weights)
        torch.testing.assert_close(big.memory[:, 2:5], own.memory)
        assert (big.write_weights[:, [0, 1, 5]] == 0).all()
        assert (big.memory[:, [0, 1, 5]] == 0.01).all()
        assert (big.read_weights > 0).all()  # it reads all of them


def test_slots_that_are_not_there_are_refused() -> None:
    for own in ((2, 2), (-1, 2), (0, 7)):
        with pytest.raises(UserError, match="own must be slots from 0 to 6"):
            DNCMemory(6, 3, own=own)


def test_attention_against_a_loop() -> None:
    torch.manual_seed(0)
    memory = AttentionMemory(4, 3).double()
    memory.requires_grad_(False)
    values, lengths = randn(5, 2, 4), torch.tensor([5, 2])
    state = memory.attend(values, lengths)
    query = randn(2, 3, seed=1)
    state = memory(memory.parse(query), state)
    for b in range(2):
        steps = range(int(lengths[b]))
        scores = [
            sum(
                float(memory.score[k])
                * math.tanh(query[b, k] + sum(memory.key_weight[k, d] * values[j, b, d] for d in range(4)))
                for k in range(3)
            )
            for j in steps
        ]
        total = sum(math.exp(score) for score in scores)
        weights = [math.exp(score) / total for score in scores]
        read = [sum(weights[j] * float(values[j, b, d]) for j in steps) for d in range(4)]
        torch.testing.assert_close(state.read_weights[b, 0, : len(weights)].tolist(), weights)
        torch.testing.assert_close(state.reads[b, 0].tolist(), read)
        assert (state.read_weights[b, 0, len(weights) :] == 0).all()


def test_attention_to_nothing_reads_zeros() -> None:
    memory = AttentionMemory(4, 3)
    for state in (memory.init_state(2), memory.attend(torch.randn(3, 2, 4), torch.tensor([0, 0]))):
        assert (memory(memory.parse(1e4 * torch.ones(2, 3)), state).reads == 0).all()
