"""A Transformer learns to say a sequence backwards, which a causal one must keep until its end.

The same call as any recurrent network: ``output, state = model(inputs)``. While it answers it sees zeros, so all that
it says comes from attention to the steps before. Its state is what it was shown, so a sequence may come in parts.

Run with: python examples/transformer.py
"""

import torch

from mnemon.models.transformer import CausalTransformer, Layers
from mnemon.tasks import Reverse

TASK = Reverse(length=5, largest=5)


def train(steps: int = 200) -> tuple[CausalTransformer, float]:
    """The network, and the share of tokens of new sequences that it gives back rightly."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    layers = Layers(heads=2, head_size=8, feed_forward=32, layers=2)
    network = CausalTransformer(TASK.input_size, TASK.output_size, layers)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(steps):
        batch = TASK.sample(32, generator)
        loss = TASK.loss(network(batch.inputs)[0], batch)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    batch = TASK.sample(500, generator)
    with torch.no_grad():
        return network, TASK.metrics(network(batch.inputs)[0], batch)["accuracy"]


if __name__ == "__main__":
    network, accuracy = train()
    print(f"{accuracy:.1%} of the tokens are right")
    batch = TASK.sample(1, torch.Generator().manual_seed(1))
    with torch.no_grad():
        _, state = network(batch.inputs[:3])  # the beginning
        _, state = network(batch.inputs[3:6], state)  # the rest, and the end
        answer, _ = network(batch.inputs[6:], state)
    print("shown ", batch.inputs[:5, 0].argmax(-1).tolist())
    print("answer", answer[:5, 0].argmax(-1).tolist())
