"""A reservoir that nobody trained, and a read-out fitted in one step, learn a system that looks ten steps back.

NARMA-10: y(t + 1) = 0.3 y(t) + 0.05 y(t) Σ_{i<10} y(t − i) + 1.5 u(t − 9) u(t) + 0.1.

Run with: python examples/reservoir.py
"""

import torch

from mnemon.reservoir import EchoStateNetwork, LiquidStateMachine, ReservoirConfig, fit_readout, memory_capacity

STEPS, WASHOUT, SPLIT = 2200, 200, 1400


def narma(inputs: torch.Tensor) -> torch.Tensor:
    """What the system answers to a series of inputs."""
    answers = torch.zeros(len(inputs) + 1, dtype=inputs.dtype)
    for t in range(9, len(inputs)):
        recent = answers[t - 9 : t + 1].sum()
        product = 1.5 * inputs[t - 9] * inputs[t]
        answers[t + 1] = 0.3 * answers[t] + 0.05 * answers[t] * recent + product + 0.1
    return answers[1:]


def error(states: torch.Tensor, targets: torch.Tensor) -> float:
    """Normalised, on steps the read-out has not seen: 1 is no better than their mean."""
    readout = fit_readout(states[WASHOUT:SPLIT], targets[WASHOUT:SPLIT])
    unseen = targets[SPLIT:]
    return ((readout(states[SPLIT:]) - unseen).square().mean() / unseen.var()).sqrt().item()


generator = torch.Generator().manual_seed(0)
inputs = torch.rand(STEPS, 1, 1, generator=generator, dtype=torch.float64) * 0.5
targets = narma(inputs.flatten())[:, None]
print(f"error without a memory: {error(inputs[:, 0], targets):.2f}")

echo = EchoStateNetwork(1, ReservoirConfig(units=200, radius=0.95, input_scale=0.3), dtype=torch.float64)
print(f"echo state network of 200 units: {error(echo(inputs)[0][:, 0], targets):.2f}")

liquid = LiquidStateMachine(
    1, ReservoirConfig(units=200, radius=0.8, input_scale=6.0), membrane=0.3, dtype=torch.float64
)
for name, reservoir, ridge in (("echo state network", echo, 1e-9), ("liquid of spiking neurons", liquid, 0.1)):
    capacity = memory_capacity(reservoir, 40, generator=generator, steps=800, ridge=ridge)
    held = ", ".join(f"{capacity[age]:.2f} at {age}" for age in (0, 1, 2, 5, 10, 20, 30))
    print(f"of its last 40 inputs the {name} holds {capacity.sum():.1f}: {held}")
