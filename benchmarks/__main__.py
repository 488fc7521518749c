"""Time of a training step, memory networks beside nn.LSTM: interleaved rounds in one process, medians and spread.

Run with ``make bench``; writes one JSON document to standard output.
"""

import json
import statistics
import time
from collections.abc import Callable

import torch
from torch import nn

from mnemon.models.baseline import LSTMBaseline
from mnemon.models.catalogue import ModelConfig, build_model
from mnemon.training.versions import provenance

ROUNDS = 7
WORKLOADS: dict[str, tuple[ModelConfig, int, int]] = {  # model, batch, steps
    "dnc-small": (ModelConfig(name="dnc", slots=16, word=16), 64, 100),
    "dnc-medium": (ModelConfig(name="dnc", slots=128, word=32, heads=4), 16, 60),
    "ntm": (ModelConfig(name="ntm", slots=128, word=20), 16, 41),
    "lrua": (ModelConfig(name="lrua", hidden=200, slots=128, word=40, heads=4), 16, 50),
}


def training_step(model: nn.Module, inputs: torch.Tensor) -> Callable[[], None]:
    optimiser = torch.optim.Adam(model.parameters())

    def step() -> None:
        optimiser.zero_grad()
        output, _ = model(inputs)
        output.square().mean().backward()
        optimiser.step()

    return step


def main() -> None:
    rows = []
    for workload, (config, batch, steps) in WORKLOADS.items():
        inputs = torch.randn(steps, batch, 10)
        contenders = {
            config.name: training_step(build_model(config, 10, 10), inputs),
            "nn.LSTM": training_step(LSTMBaseline(10, config.hidden, 10), inputs),
        }
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(ROUNDS + 1):
            for name, step in contenders.items():
                began = time.perf_counter()
                step()
                times[name].append(1000 * (time.perf_counter() - began))
        for name, all_times in times.items():
            measured = all_times[1:]  # the first round warms up
            middle = statistics.median(measured)
            spread = (max(measured) - min(measured)) / middle
            rows.append({"workload": workload, "model": name, "train_ms": round(middle, 2), "spread": round(spread, 2)})
    print(json.dumps({"provenance": provenance(), "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
