"""DeepCare (Pham et al., 2017), the baseline of the thesis's §4.5.5: an LSTM over admissions.

Letters: ``B`` batch, ``E`` embedding, ``H`` hidden, ``O`` labels.

An admission is the mean of its embedded diagnoses x and that of its embedded interventions p. Interventions act on what
is remembered: those of the last admission on the forget gate, those of this one on the output gate,

    f_t = σ(W_f x_t + U_f h_{t−1} + P_f p_{t−1} + b_f),      o_t = σ(W_o x_t + U_o h_{t−1} + P_o p_t + b_o).

Deviations: no time between admissions and no pre-trained embeddings, which the thesis's own models do without too; of
several views the first is x and the mean of the others is p.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon.memory.base import check_sizes
from mnemon.state import where


class DeepCareState(NamedTuple):
    """What goes from admission to admission."""

    hidden: Float[Tensor, "B H"]
    cell: Float[Tensor, "B H"]
    interventions: Float[Tensor, "B E"]  # p_{t−1}


class DeepCare(nn.Module):
    """Called once for each admission, like a model of views: ``output, states = model(views, states)``.

    Args:
        tokens: how many kinds of tokens each view has.
        embedding_size: E.
        hidden_size: H.
        labels: O.
    """

    def __init__(self, tokens: Sequence[int], embedding_size: int, hidden_size: int, labels: int) -> None:
        super().__init__()
        check_sizes(embedding_size=embedding_size, hidden_size=hidden_size, labels=labels)
        self.embeddings = nn.ModuleList(nn.Embedding(count, embedding_size) for count in tokens)
        self.gates = nn.Linear(embedding_size + hidden_size, 4 * hidden_size)  # i, f, g, o
        self.forget = nn.Linear(embedding_size, hidden_size, bias=False)  # P_f
        self.leave = nn.Linear(embedding_size, hidden_size, bias=False)  # P_o
        self.combine = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, labels)

    def forward(
        self,
        views: Sequence[Int[Tensor, "_ B"]],
        states: Sequence[DeepCareState] | None = None,
        *,
        lengths: Sequence[Int[Tensor, "B"]],
        steps: int = 1,  # noqa: ARG002 (a set is answered in one)
        targets: Tensor | None = None,  # noqa: ARG002 (a set is not fed back)
        teacher: float = 0.0,  # noqa: ARG002
        asked: Tensor | None = None,  # noqa: ARG002 (a set is asked for as a whole)
    ) -> tuple[Float[Tensor, "1 B O"], tuple[DeepCareState]]:
        """The logits after one more admission; rows without any code stand still."""
        pooled = [
            _mean(embedding(view), own) for embedding, view, own in zip(self.embeddings, views, lengths, strict=True)
        ]
        diagnoses = pooled[0]
        others = torch.stack(pooled[1:]).mean(0) if len(pooled) > 1 else torch.zeros_like(diagnoses)
        state = self._begin(diagnoses) if states is None else states[0]
        enter, forget, candidate, leave = self.gates(torch.cat([diagnoses, state.hidden], dim=1)).chunk(4, dim=1)
        forget = forget + self.forget(state.interventions)
        leave = leave + self.leave(others)
        cell = torch.sigmoid(forget) * state.cell + torch.sigmoid(enter) * torch.tanh(candidate)
        new = DeepCareState(torch.sigmoid(leave) * torch.tanh(cell), cell, others)
        new = where(torch.stack(list(lengths)).sum(0) > 0, new, state)
        return self.output(torch.tanh(self.combine(new.hidden))).unsqueeze(0), (new,)

    def _begin(self, like: Float[Tensor, "B E"]) -> DeepCareState:
        hidden = like.new_zeros(like.shape[0], self.combine.in_features)
        return DeepCareState(hidden, hidden, torch.zeros_like(like))


def _mean(embedded: Float[Tensor, "_ B E"], lengths: Int[Tensor, "B"]) -> Float[Tensor, "B E"]:
    """Over the codes that a row has; zero where it has none."""
    there = torch.arange(len(embedded), device=embedded.device).unsqueeze(1) < lengths.to(embedded.device)
    return (embedded * there.unsqueeze(2)).sum(0) / lengths.to(embedded.device).clamp_min(1).unsqueeze(1)
