"""A machine with four regimes, each with a law of its own, and a small network that is to predict what it does.

The network sees the machine's eight readings and a noisy signal of which regime it is in. A plain network has to
squeeze all four laws into one set of weights; with stored programs the signal looks up the weights. Both have the same
layers, and the plain one is made wider until it has at least as many parameters.

Run with: python examples/switching_regimes.py
"""

import torch
from torch import Tensor, nn

from mnemon import StoredProgramLinear

REGIMES, READINGS, HIDDEN = 4, 8, 12
STEPS, BATCH = 600, 64
PENALTY, DECAY = 0.1, 0.9  # of similar keys, and how it fades from step to step


class Machine:
    """Draws readings and what follows from them: tanh(A_r x) in regime r."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.laws = torch.randn(REGIMES, READINGS, READINGS, generator=self.generator) / READINGS**0.5

    def sample(self, rows: int) -> tuple[Tensor, Tensor]:
        """Readings beside the signal of the regime, and what is to be predicted."""
        regime = torch.randint(REGIMES, (rows,), generator=self.generator)
        signal = nn.functional.one_hot(regime, REGIMES) + 0.1 * torch.randn(rows, REGIMES, generator=self.generator)
        readings = torch.randn(rows, READINGS, generator=self.generator)
        following = torch.tanh(torch.einsum("bij,bj->bi", self.laws[regime], readings))
        return torch.cat([readings, signal], dim=1), following


def stored_network() -> nn.Sequential:
    """The first layer has a program for each regime."""
    first = StoredProgramLinear(READINGS + REGIMES, HIDDEN, programs=REGIMES, key_size=REGIMES)
    return nn.Sequential(first, nn.Tanh(), nn.Linear(HIDDEN, READINGS))


def plain_network(at_least: int) -> nn.Sequential:
    """The same layers without programs, with at least so many parameters."""
    hidden = HIDDEN
    while True:
        network = nn.Sequential(nn.Linear(READINGS + REGIMES, hidden), nn.Tanh(), nn.Linear(hidden, READINGS))
        if parameters(network) >= at_least:
            return network
        hidden += 1


def parameters(network: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in network.parameters())


def train(network: nn.Sequential, seed: int, steps: int = STEPS) -> float:
    """The mean squared error on readings the network has not seen, after training."""
    machine = Machine(seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2, fused=True)
    stored = [layer for layer in network if isinstance(layer, StoredProgramLinear)]
    for step in range(steps):
        inputs, following = machine.sample(BATCH)
        loss = nn.functional.mse_loss(network(inputs), following)
        for layer in stored:
            loss = loss + PENALTY * DECAY**step * sum(layer.losses().values())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    inputs, following = machine.sample(4_000)
    with torch.no_grad():
        return nn.functional.mse_loss(network(inputs), following).item()


def compare(seed: int) -> dict[str, tuple[int, float]]:
    """The parameters and the error of both networks."""
    torch.manual_seed(seed)
    stored = stored_network()
    plain = plain_network(at_least=parameters(stored))
    networks = {"plain": plain, "stored programs": stored}
    return {name: (parameters(network), train(network, seed)) for name, network in networks.items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    for seed in range(3):
        for name, (size, error) in compare(seed).items():
            print(f"seed {seed}, {name}: {size} parameters, mean squared error {error:.4f}")
