"""Sequential and permuted MNIST (thesis §6.5.5; Le et al., 2015): read an image pixel by pixel, then name the digit.

The thesis says 768 steps; an image has 28 × 28 = 784 pixels. The class is asked at the last of them. As in the thesis,
10,000 of the 60,000 training images are for validation: here the last ones.

Letters: ``N`` images, ``P`` pixels of an image.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from mnemon.data.files import data_folder
from mnemon.data.idx import LabelledImages, read_mnist
from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.labelled import LabelledTask, Splits, label_at_the_end

DIGITS = tuple("0123456789")
SHADES = " ░▒▓█"


@dataclass(frozen=True, kw_only=True, eq=False)
class Pixels(LabelledTask):
    """Show the grey values of an image, from 0 to 1, in a fixed order of its pixels; ask for its class at the last."""

    images: UInt8[Tensor, "N P"]
    labels: Int[Tensor, "N"]
    order: Int[Tensor, "P"]
    width: int  # of an image

    @property
    def size(self) -> int:
        """How many images there are."""
        return len(self.images)

    @property
    def input_size(self) -> int:
        """The grey value."""
        return 1

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The images with these numbers."""
        grey = self.images[rows][:, self.order].to(torch.float32) / 255
        return label_at_the_end(grey.T.unsqueeze(-1), self.labels[rows], len(self.classes))

    def render_input(self, batch: Batch, row: int) -> str:
        """The pixels in the order in which they are shown, in lines as wide as the image."""
        shades = [SHADES[round(grey * (len(SHADES) - 1))] for grey in batch.inputs[:, row, 0].tolist()]
        lines = ("".join(shades[start : start + self.width]) for start in range(0, len(shades), self.width))
        return "\n".join(line.rstrip() for line in lines)


def mnist(data: Path, *, permuted: bool = False, permutation_seed: int = 0, validation: int = 10_000) -> Splits:
    """MNIST from its four idx files in ``data``, or in ``data/mnist``.

    Args:
        data: the folder.
        permuted: show the pixels in one random order, the same for all images.
        permutation_seed: which order that is.
        validation: how many of the training images are for validation.
    """
    training, testing = read_mnist(data_folder(data, "mnist"))
    if training.images.shape[1:] != testing.images.shape[1:]:
        raise UserError(f"{data} has training and test images of different sizes: MNIST's are all 28 × 28")
    train_images = len(training.images) - validation
    if validation < 1 or train_images < 1:
        raise UserError(f"mnist(validation={validation}): write a number from 1 to {len(training.images) - 1}")
    pixels = training.images[0].numel()
    order = torch.arange(pixels)
    if permuted:
        order = torch.randperm(pixels, generator=torch.Generator().manual_seed(permutation_seed))
    return Splits(
        train=_pixels(training, slice(train_images), order),
        validation=_pixels(training, slice(train_images, None), order),
        test=_pixels(testing, slice(None), order),
    )


def _pixels(part: LabelledImages, rows: slice, order: Int[Tensor, "P"]) -> Pixels:
    return Pixels(
        classes=DIGITS,
        images=part.images[rows].flatten(1),
        labels=part.labels[rows].long(),
        order=order,
        width=part.images.shape[-1],
    )
