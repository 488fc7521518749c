"""A memory network is told who went where, is asked where someone is, and shows which sentence it looked at.

Each sentence is a slot of its memory. "Mary went home. John went out. Mary went out. Where is Mary?" has two sentences
about Mary, and the later one counts: the network learns from answers alone what to look for, and that age matters.

Run with: python examples/memory_network.py
"""

import torch
from torch import Tensor

from mnemon.models.memory_network import MemN2N

WORDS = [".", "mary", "john", "sandra", "kitchen", "garden", "hall", "office"]
PEOPLE, PLACES, SENTENCES = 3, 4, 6


def sample(batch: int, generator: torch.Generator) -> tuple[list[Tensor], Tensor]:
    """Stories of six sentences, "who where .", a question, "who .", and the number of the place."""
    who = torch.randint(1, 1 + PEOPLE, (SENTENCES, batch), generator=generator)
    where = torch.randint(PLACES, (SENTENCES, batch), generator=generator)
    story = torch.stack([who, where + 1 + PEOPLE, torch.zeros_like(who)], dim=1).flatten(0, 1)
    asked = who[int(torch.randint(SENTENCES, (), generator=generator))]
    last = ((who == asked) * torch.arange(1, SENTENCES + 1).unsqueeze(1)).argmax(0)
    return [story, torch.stack([asked, torch.zeros_like(asked)])], where.gather(0, last.unsqueeze(0))[0]


def train(steps: int = 200) -> tuple[MemN2N, float]:
    """The network, and the share of new questions that it answers rightly."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network = MemN2N(len(WORDS), size=20, answers=PLACES, slots=SENTENCES, hops=1)
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-2)
    for _ in range(steps):
        views, place = sample(64, generator)
        loss = torch.nn.functional.cross_entropy(network(views)[0][0], place)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    network.eval()
    views, place = sample(1_000, generator)
    return network, (network(views)[0][0].argmax(-1) == place).float().mean().item()


if __name__ == "__main__":
    network, accuracy = train()
    print(f"{accuracy:.1%} of new questions answered rightly")
    (story, question), place = sample(1, torch.Generator().manual_seed(5))
    _, weights = network.read([story, question])
    for age in reversed(range(SENTENCES)):
        start = 3 * (SENTENCES - 1 - age)
        who, where = (WORDS[int(token)] for token in story[start : start + 2, 0])
        print(f"{weights[0, 0, age]:6.1%}  {who} went to the {where}")
    print(f"        where is {WORDS[int(question[0, 0])]}? {WORDS[int(place) + 1 + PEOPLE]}")
