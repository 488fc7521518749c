"""A neural stack learns to say words of brackets' next closing bracket, and goes on to words four times as long.

The controller is feed-forward: it sees one bracket and what the stack shows, and remembers nothing itself. What it
learns is to push what opens and to pop what closes.

Run with: python examples/neural_stack.py
"""

import torch

from mnemon import MANN, FeedForwardController, MemoryCell, StackMemory, record_trace
from mnemon.tasks import Brackets

STEPS = 300


def make_network(task: Brackets, slots: int = 40) -> MANN:
    """A stack and a controller of 32 units."""
    controller = FeedForwardController(task.input_size, 32)
    return MANN(MemoryCell(controller, StackMemory(slots, word=8), output_size=task.output_size))


def train(network: MANN, task: Brackets, steps: int = STEPS) -> None:
    """On words of at most as many pairs as the task has."""
    optimiser, generator = torch.optim.Adam(network.parameters(), lr=1e-2), torch.Generator().manual_seed(0)
    for _ in range(steps):
        batch = task.sample(32, generator)
        loss = task.loss(network(batch.inputs)[0], batch)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()


def accuracy(network: MANN, pairs: int) -> float:
    """Of words that have so many pairs."""
    task = Brackets(min_pairs=pairs, max_pairs=pairs)
    batch = task.sample(200, torch.Generator().manual_seed(1))
    with torch.no_grad():
        return task.metrics(network(batch.inputs)[0], batch)["accuracy"]


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    task = Brackets(max_pairs=5)
    network = make_network(task)
    train(network, task)
    for pairs in (5, 10, 20):
        print(f"{pairs} pairs: {accuracy(network, pairs):.1%} right")
    batch = Brackets(min_pairs=4, max_pairs=4).sample(1, torch.Generator().manual_seed(2))
    with torch.no_grad(), record_trace(network) as trace:
        output, _ = network(batch.inputs)
    print(task.render(batch, output=output))
    for name, told in (("push", trace.interface.pushes), ("pop", trace.interface.pops)):
        print(f"{name:<8}" + "".join("█" if part > 0.5 else "·" for part in told[:, 0, 0].tolist()))
