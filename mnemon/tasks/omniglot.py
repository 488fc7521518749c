"""Few-shot learning on Omniglot (thesis §7.4.4; Santoro et al., 2016): name drawings of characters never seen before.

An episode shows drawings of a few characters. Each has a label that holds for this episode only, and is told one step
late: with the next drawing. So the first drawing of a character can only be guessed, and what counts is the accuracy
when it is seen for the second, third and fifth time.

Settings that the thesis leaves to Santoro et al.: pictures of 20 × 20 pixels; a character turned by 90, 180 or 270
degrees is a character of its own, in training and in tests; each character comes equally often. Which 1,200 of the
1,623 characters are for training is drawn once, from a fixed seed.

Deviation: the persistent memory of the thesis "is not artificially erased between episodes" in the whole of training.
Here ``episodes`` of them follow one another in a sequence, each with new characters and labels, without anything being
erased, and the accuracy is that of the later ones. The gradient goes through all of them, no state has to be kept
between batches, and a run that was stopped resumes exactly.

Letters: ``T`` time, ``B`` batch, ``I`` input channels, ``O`` labels, ``K`` characters, ``E`` drawings of a character,
``P`` pixels.
"""

from dataclasses import dataclass
from math import isqrt
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.data.files import data_folder
from mnemon.data.omniglot import read_omniglot
from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.labelled import Splits
from mnemon.tasks.rendering import render_tokens
from mnemon.tasks.scoring import class_loss, class_metrics, wrong_classes
from mnemon.tasks.settings import check_at_least

SIDE = 20
TRAINING_CHARACTERS, CHARACTERS = 1200, 1623
SPLIT_SEED = 0
PRESENTATIONS = {"accuracy_2nd": 2, "accuracy_3rd": 3, "accuracy_5th": 5}


@dataclass(frozen=True, kw_only=True, eq=False)
class FewShot:
    """Show drawings of ``classes`` characters, each with the label of the one before it; ask for the label of each.

    With drawings a, b, c of two characters, labelled 1, 0, 1::

        step              0     1  2
        input, picture    a     b  c
        input, label      none  1  0
        target            1     0  1
    """

    drawings: UInt8[Tensor, "K E P"]
    classes: int = 5
    length: int = 50  # drawings in an episode
    episodes: int = 1  # more than one: persistent memory
    rotations: bool = True

    def __post_init__(self) -> None:
        check_at_least("FewShot", 2, classes=self.classes)
        check_at_least("FewShot", self.classes, length=self.length)
        check_at_least("FewShot", 1, episodes=self.episodes)
        characters, drawings, _ = self.drawings.shape
        if self.classes > characters:
            raise UserError(f"FewShot(classes={self.classes}): write {characters} or less, the characters there are")
        if -(-self.length // self.classes) > drawings:
            most = self.classes * drawings
            raise UserError(f"FewShot(length={self.length}): write {most} or less, as many drawings as there are")

    @property
    def pixels(self) -> int:
        """Of a picture, P."""
        return self.drawings.shape[2]

    @property
    def input_size(self) -> int:
        """The pixels of a drawing, and the label of the one before it."""
        return self.pixels + self.classes

    @property
    def output_size(self) -> int:
        """The labels."""
        return self.classes

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw the episodes of each row one after the other."""
        episodes = [[self._episode(generator) for _ in range(self.episodes)] for _ in range(batch_size)]
        pictures = torch.stack([torch.cat([shown for shown, _ in row]) for row in episodes], dim=1)
        labels = torch.stack([torch.cat([labels for _, labels in row]) for row in episodes], dim=1)
        targets = one_hot(labels, self.classes).to(torch.float32)
        told = torch.cat([torch.zeros_like(targets[:1]), targets[:-1]])
        told[:: self.length] = 0  # the last label of an episode means nothing in the next
        return Batch(torch.cat([pictures, told], dim=-1), targets, torch.ones(labels.shape))

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the labels, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """The accuracy when a character is seen for the 2nd, 3rd and 5th time, then for any; of later episodes only."""
        counted = self._counted(batch)
        seen = presentations(batch.targets, self.length)
        wrong = wrong_classes(output, batch)
        found = {}
        for name, number in PRESENTATIONS.items():
            at = counted & (seen == number)
            if at.any():
                found[name] = 1.0 - float(wrong[at].sum()) / float(at.sum())
        return found | class_metrics(output, batch._replace(mask=batch.mask * counted))

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """The labels of one row: told, asked and answered."""
        return render_tokens(batch._replace(inputs=batch.inputs[..., self.pixels :]), row, output)

    def _episode(self, generator: torch.Generator) -> tuple[Float[Tensor, "T P"], Int[Tensor, "T"]]:
        """The pictures of one episode and their labels, which are a random numbering of random characters."""
        characters = torch.randperm(len(self.drawings), generator=generator)[: self.classes]
        examples = torch.stack([torch.randperm(self.drawings.shape[1], generator=generator) for _ in characters])
        turns = torch.randint(4, (self.classes,), generator=generator) * int(self.rotations)
        rounds = torch.randperm(self.classes, generator=generator).repeat(-(-self.length // self.classes))
        order = torch.randperm(self.length, generator=generator)
        labels, number = rounds[order], order // self.classes  # for the how-manieth time in unshuffled rounds
        pictures = self.drawings[characters[labels], examples[labels, number]]
        return pictures.gather(1, turned_places(self.pixels)[turns[labels]]).to(torch.float32) / 255, labels

    def _counted(self, batch: Batch) -> Bool[Tensor, "T B"]:
        """All steps, or those after the first episode where there are more."""
        after = torch.arange(len(batch.mask), device=batch.mask.device) >= self.length * (self.episodes > 1)
        return after.unsqueeze(1).expand_as(batch.mask)


def turned_places(pixels: int) -> Int[Tensor, "4 P"]:
    """From which place of a square picture each pixel comes when it is turned by 0, 90, 180 or 270 degrees."""
    places = torch.arange(pixels).view(isqrt(pixels), -1)
    return torch.stack([places.rot90(turn).flatten() for turn in range(4)])


def presentations(targets: Float[Tensor, "T B O"], length: int) -> Int[Tensor, "T B"]:
    """For the how-manieth time each step shows its character, in episodes of so many steps."""
    episodes = targets.view(-1, length, *targets.shape[1:])
    return (episodes.cumsum(1) * episodes).sum(-1).flatten(0, 1).long()


def omniglot(data: Path, *, classes: int = 5, episodes: int = 1, rotations: bool = True) -> Splits:
    """Omniglot from its two zip files in ``data``, or in ``data/omniglot``.

    Args:
        data: the folder.
        classes: characters of an episode; its length is 50 for 5 of them, as in the thesis, and 75 for 10.
        episodes: that follow one another; more than one is the persistent memory.
        rotations: make four characters of one by turning it.
    """
    drawings = read_omniglot(data_folder(data, "omniglot"), SIDE)
    order = torch.randperm(len(drawings), generator=torch.Generator().manual_seed(SPLIT_SEED))
    training = len(drawings) * TRAINING_CHARACTERS // CHARACTERS  # the same share of an excerpt
    train, test = (
        FewShot(
            drawings=drawings[rows],
            classes=classes,
            length=length_of(classes),
            episodes=episodes,
            rotations=rotations,
        )
        for rows in (order[:training], order[training:])
    )
    return Splits(train=train, validation=None, test=test)


def length_of(classes: int) -> int:
    """50 drawings for 5 characters and 75 for 10, as in the thesis; ten for each of any other number."""
    return {5: 50, 10: 75}.get(classes, 10 * classes)
