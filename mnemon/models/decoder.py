"""Decoders: an answer as a sequence of tokens, or as a set (thesis §3.3.5, §4.3, §4.4).

Letters: ``A`` steps of the answer, ``B`` batch, ``E`` embedding, ``O`` tokens of the answer, ``K`` width of a beam.

A sequence decoder sees, beside what it reads, the token that it predicted last, which is the largest of its logits; no
gradient goes through that choice. So the tokens are found first, step by step and without gradients, and the whole
sequence is then run with them: the numbers are the same, and the kernels run it at once.

Deviations: the reads of each memory are steered by the whole of the decoder's output rather than by a part of it, and
its output is projected to the tokens, as [o^1, o^2] + f^d([r^1, r^2]) cannot be where their sizes differ.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mnemon.cell import CellState, MemoryCell
from mnemon.controllers import Controller
from mnemon.errors import UserError
from mnemon.interface import LinearInterface
from mnemon.memory import AttentionMemory, JoinedMemory, Memory
from mnemon.memory.base import advance_in_torch, check_sizes
from mnemon.memory.joined import Joined
from mnemon.models.encoder import Encoded
from mnemon.models.generation import Choice, Generated, likeliest
from mnemon.rnn import MANN
from mnemon.state import map_state, select


class Beam(NamedTuple):
    """The likeliest answers of each row, the best first."""

    tokens: Int[Tensor, "A B K"]
    scores: Float[Tensor, "B K"]  # log-probabilities


class SequenceDecoder(nn.Module):
    """Answers with a sequence of tokens.

    Args:
        cell: its input is an embedded token, its output one logit for each token. It may be an encoder's own cell.
        end: the token that ends an answer.
        feedback: whether a step sees the token before it; otherwise it sees zeros, and goes by what it reads alone.
    """

    def __init__(self, cell: MemoryCell, *, end: int = 0, feedback: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(cell.output_size, cell.input_size) if feedback else None
        self.rnn = MANN(cell)
        self.end = end

    def forward(
        self,
        encoded: Encoded,
        steps: int,
        *,
        targets: Int[Tensor, "A B"] | None = None,
        teacher: float = 0.0,
        asked: Bool[Tensor, "A B"] | None = None,
    ) -> Float[Tensor, "A B O"]:
        """The logits of so many steps.

        Args:
            encoded: what the encoders left.
            steps: A.
            targets: the right tokens, to be fed in place of predicted ones.
            teacher: the share of the steps at which they are.
            asked: which steps count, the first of each row; None: all. While gradients are kept the others are not
                taken, and their logits are zero.
        """
        state = self.begin(encoded)
        lengths = asked.sum(0) if asked is not None and torch.is_grad_enabled() else None
        if self.embedding is None:
            if teacher > 0:
                raise UserError(
                    f"this decoder is fed no tokens, so none can be the right one: teacher=0, not {teacher:g}"
                )
            unfed, _ = self.rnn(self._nothing(steps, encoded.batch), state, lengths=lengths)
            return cast(Tensor, unfed)
        if teacher >= 1 and targets is not None:
            tokens = targets
        else:
            given = self._given(targets, teacher)
            if not torch.is_grad_enabled():
                return self._follow(state, steps, given)[1]
            tokens = (
                self._follow_asked(state, lengths, steps, given)
                if lengths is not None
                else self._follow(state, steps, given)[0]
            )
        fed = self.embedding(tokens[: steps - 1])
        output, _ = self.rnn(torch.cat([self._nothing(1, encoded.batch), fed]), state, lengths=lengths)
        return cast(Tensor, output)

    def begin(self, encoded: Encoded) -> CellState:
        """The state before the first step."""
        return begin(self.rnn.cell, encoded)

    @torch.no_grad()
    def greedy(self, encoded: Encoded, steps: int) -> Int[Tensor, "A B"]:
        """The likeliest token at each of so many steps; the answer is what comes before the first end."""
        return self._follow(self.begin(encoded), steps, None)[0]

    @torch.no_grad()
    def generate(
        self,
        encoded: Encoded,
        steps: int,
        choose: Choice,
        *,
        mode: int | None,
        generator: torch.Generator | None,  # noqa: ARG002 (the choice of words has its own)
    ) -> Generated:
        """The words of so many steps, each chosen by its logits."""
        if mode is not None:
            raise UserError("this model has no modes: leave out mode")
        check_sizes(steps=steps)
        return Generated(self._follow(self.begin(encoded), steps, None, choose)[0], None)

    @torch.no_grad()
    def beam(self, encoded: Encoded, steps: int, width: int) -> Beam:
        """The likeliest answers that a beam of so many finds; one that has ended stays as it is."""
        check_sizes(steps=steps, width=width)
        rows = torch.arange(encoded.batch)
        state = select(self.begin(encoded), rows.repeat_interleave(width))
        start = self._nothing(1, encoded.batch * width)
        scores = start.new_full((encoded.batch, width), -torch.inf)
        scores[:, 0] = 0  # at first there is one answer, the empty one
        ended = torch.zeros(encoded.batch, width, dtype=torch.bool, device=start.device)
        tokens = torch.zeros(0, encoded.batch, width, dtype=torch.int64, device=start.device)
        inputs = start
        for _ in range(steps):
            logits, after = self.rnn(inputs, state)
            odds = torch.log_softmax(logits[0], dim=-1).view(encoded.batch, width, -1)
            only_end = torch.full_like(odds, -torch.inf).index_fill_(2, torch.tensor(self.end, device=start.device), 0)
            total = scores.unsqueeze(2) + torch.where(ended.unsqueeze(2), only_end, odds)
            scores, best = total.flatten(1).topk(width, dim=1)
            parent, token = best // odds.shape[2], best % odds.shape[2]  # B K
            tokens = torch.cat([tokens.gather(2, parent.expand_as(tokens)), token.unsqueeze(0)])
            ended = ended.gather(1, parent) | (token == self.end)
            state = select(after, (rows.unsqueeze(1) * width + parent).flatten())
            if ended.all():
                break
            inputs = self._fed(token.flatten())
        return Beam(tokens, scores)

    def _follow(
        self, state: CellState, steps: int, given: tuple[Tensor, Tensor] | None, choose: Choice = likeliest
    ) -> tuple[Int[Tensor, "A B"], Float[Tensor, "A B O"]]:
        """Step by step: the tokens that each next step is fed, and the logits they come from."""
        going = [state.controller.hidden.shape[0]] * steps
        tokens, logits = zip(*self._step_by_step(state, going, given, choose), strict=True)
        return torch.stack(tokens), torch.cat(logits)

    def _follow_asked(
        self, state: CellState, lengths: Int[Tensor, "B"], steps: int, given: tuple[Tensor, Tensor] | None
    ) -> Int[Tensor, "A B"]:
        """The tokens that each next step is fed, of each row as far as it goes, and after that the end."""
        order = lengths.argsort(descending=True)  # so that rows that go on are the first
        going = (torch.arange(steps, device=lengths.device).unsqueeze(1) < lengths).sum(1).tolist()
        in_order = None if given is None else (given[0][:, order], given[1][:, order])
        found = torch.full((steps, len(lengths)), self.end, device=lengths.device)
        steps_taken = self._step_by_step(select(state, order), going[: int(lengths.max())], in_order, likeliest)
        for step, (tokens, _) in enumerate(steps_taken):
            found[step, order[: len(tokens)]] = tokens
        return found

    @torch.no_grad()
    def _step_by_step(
        self, state: CellState, going: Sequence[int], given: tuple[Tensor, Tensor] | None, choose: Choice
    ) -> Iterator[tuple[Int[Tensor, "some"], Float[Tensor, "1 some O"]]]:
        """The token and the logits of each step, of so many rows that go on, the first."""
        inputs = self._nothing(1, state.controller.hidden.shape[0])
        for step, rows in enumerate(going):
            logits, state = self.rnn(inputs[:, :rows], select(state, slice(rows)))
            token = choose(logits[0])
            if given is not None:
                targets, chosen = given
                token = torch.where(chosen[step, :rows], targets[step, :rows], token)
            yield token, logits
            inputs = self._fed(token)

    def _fed(self, tokens: Int[Tensor, "B"]) -> Float[Tensor, "1 B E"]:
        """What the next step sees."""
        if self.embedding is None:
            return self._nothing(1, len(tokens))
        return cast(Tensor, self.embedding(tokens)).unsqueeze(0)

    def _nothing(self, steps: int, batch: int) -> Float[Tensor, "A B E"]:
        cell = self.rnn.cell
        return cast(Tensor, cell.readout_weight).new_zeros(steps, batch, cell.input_size)

    def _given(
        self, targets: Int[Tensor, "A B"] | None, teacher: float
    ) -> tuple[Int[Tensor, "A B"], Bool[Tensor, "A B"]] | None:
        if targets is None or teacher <= 0:
            return None
        return targets, torch.rand(targets.shape, device=targets.device) < teacher


class SetDecoder(nn.Module):
    """Answers with a set, in one step: ŷ = σ(f^d(W_1 r^1 + W_2 r^2 + … + W_h [h^1, h^2, …])).

    Args:
        memory: as the encoders leave it; several are joined.
        hidden_size: of all encoders together, H.
        labels: O, of which the set is a part.
    """

    def __init__(self, memory: Memory[Any, Any], hidden_size: int, labels: int) -> None:
        super().__init__()
        check_sizes(hidden_size=hidden_size, labels=labels)
        self.memory = memory
        self.combine = nn.Linear(hidden_size + memory.read_size, hidden_size)
        self.output = nn.Linear(hidden_size, labels)
        self.interface = LinearInterface()
        self.interface.connect(hidden_size, memory.head_sizes, memory.recipe, self.output.weight)

    def forward(
        self,
        encoded: Encoded,
        steps: int = 1,
        *,
        targets: Tensor | None = None,  # noqa: ARG002 (a set is not fed back)
        teacher: float = 0.0,  # noqa: ARG002
        asked: Tensor | None = None,  # noqa: ARG002
    ) -> Float[Tensor, "1 B O"]:
        """One logit for each label."""
        if steps != 1:
            raise UserError(f"a set is answered in one step: write steps=1, not {steps}")
        reads = self.read(encoded).reads.flatten(1)
        combined = self.combine(torch.cat([_hidden(encoded), reads], dim=1))
        return cast(Tensor, self.output(torch.tanh(combined))).unsqueeze(0)

    def read(self, encoded: Encoded) -> Any:
        """The state of the memory after it was read."""
        state = open_memories(encoded, self.memory)
        return self.memory.step(self.interface(_hidden(encoded)), state, False, advance_in_torch)


def begin(cell: MemoryCell, encoded: Encoded) -> CellState:
    """A decoder's state before its first step: the encoders' states side by side, and their memories."""
    return CellState(
        controller=join_controllers(encoded, cell.controller),
        memory=open_memories(encoded, cell.memory),
        writing=cell.writing.init_state(encoded.batch, cell.controller.weight_ih.device),
    )


def _hidden(encoded: Encoded) -> Float[Tensor, "B H"]:
    return torch.cat([state.hidden for state in encoded.controllers], dim=1)


def join_controllers(encoded: Encoded, controller: Controller[Any]) -> Any:
    """The controllers' last states side by side; what the decoder has beyond them, such as a cell, begins at zero."""
    first = controller.init_state(encoded.batch)
    if all(type(state) is type(first) for state in encoded.controllers):
        joined = map_state(lambda *parts: torch.cat(parts, dim=1), *encoded.controllers)
    else:
        joined = first._replace(hidden=_hidden(encoded))
    if (size := joined.hidden.shape[1]) != controller.hidden_size:
        raise UserError(f"the encoders have {size} hidden units together: write a decoder with as many")
    return joined


def open_memories(encoded: Encoded, memory: Memory[Any, Any]) -> Any:
    """The states of the memories that a decoder reads: those that the encoders left, and what they said."""

    def open_one(part: Memory[Any, Any], number: int) -> Any:
        if isinstance(part, AttentionMemory):
            return part.attend(encoded.outputs[number], encoded.lengths[number])
        return encoded.memories[number]

    if not isinstance(memory, JoinedMemory):
        return open_one(memory, 0)
    each: Sequence[Memory[Any, Any]] = memory.parts
    return Joined(*(open_one(part, number) for number, part in enumerate(each)))
