"""Fast weights as attention to the recent past: a network is shown pairs and asked for one of them.

Each row shows letters followed by their digits, then a letter: what was its digit? The weights learned by gradient
descent are the same for all rows; only the fast weights, written while reading, can hold a row's own pairs.

Run with: python examples/fast_weight_rnn.py
"""

import torch
from torch import Tensor, nn

from mnemon import MANN, ElmanController, FastWeightController, MemoryCell, NoMemory
from mnemon.controllers import Controller

LETTERS, DIGITS, PAIRS, HIDDEN = 5, 5, 2, 32


def draw(rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """One-hot letters and digits, pair after pair, and the letter asked for; and its digit."""
    letters = torch.rand(rows, LETTERS, generator=generator).argsort(1)[:, :PAIRS]
    digits = torch.randint(DIGITS, (rows, PAIRS), generator=generator)
    asked = torch.randint(PAIRS, (rows, 1), generator=generator)
    shown = torch.stack([letters, LETTERS + digits], dim=2).flatten(1)
    tokens = torch.cat([shown, letters.gather(1, asked)], dim=1)
    return nn.functional.one_hot(tokens.T, LETTERS + DIGITS).float(), digits.gather(1, asked).squeeze(1)


def train(controller: Controller[tuple[Tensor, ...]], steps: int, seed: int = 0) -> float:
    """The share of right answers after training, on rows not seen."""
    network = MANN(MemoryCell(controller, NoMemory(), output_size=DIGITS))
    optimiser, generator = torch.optim.Adam(network.parameters(), lr=1e-2), torch.Generator().manual_seed(seed)
    for _ in range(steps):
        inputs, answers = draw(128, generator)
        loss = nn.functional.cross_entropy(network(inputs)[0][-1], answers)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    inputs, answers = draw(2_000, generator)
    with torch.no_grad():
        return float((network(inputs)[0][-1].argmax(1) == answers).float().mean())


if __name__ == "__main__":
    torch.set_num_threads(1)
    for kind in (FastWeightController, ElmanController):
        torch.manual_seed(0)
        print(f"{kind.__name__}: {train(kind(LETTERS + DIGITS, HIDDEN), steps=400):.1%} right")
