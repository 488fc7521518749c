"""MNIST's idx files: two zero bytes, the type (8: bytes), the number of dimensions, their sizes, then the numbers.

Letters: ``N`` images, ``H`` height, ``W`` width.
"""

import struct
from math import prod
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import UInt8
from torch import Tensor

from mnemon.data.files import find_file, open_bytes
from mnemon.errors import UserError

BYTES = 8


class LabelledImages(NamedTuple):
    """Grey values and the digits they show."""

    images: UInt8[Tensor, "N H W"]
    labels: UInt8[Tensor, "N"]


def read_mnist(folder: Path) -> tuple[LabelledImages, LabelledImages]:
    """The training and the test images of the four canonical files, plain or as ``.gz``."""
    return _read_part(folder, "train"), _read_part(folder, "t10k")


def read_idx(path: Path, dimensions: int) -> UInt8[Tensor, "..."]:
    """The bytes of an idx file with so many dimensions."""
    with open_bytes(path) as file:
        data = file.read()
    start = 4 + 4 * dimensions
    if data[:4] != bytes([0, 0, BYTES, dimensions]) or len(data) < start:
        raise UserError(f"{path} is not an idx file of bytes in {dimensions} dimensions")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    if not prod(shape):
        raise UserError(f"{path} is empty: numbers are expected after its sizes")
    if len(data) - start != prod(shape):
        size = " × ".join(map(str, shape))
        raise UserError(f"{path} has {len(data) - start} bytes of data where {size} = {prod(shape)} are expected")
    return torch.frombuffer(bytearray(data), dtype=torch.uint8, offset=start).view(shape)


def _read_part(folder: Path, part: str) -> LabelledImages:
    image_file, label_file = (
        find_file(folder, f"{part}-{kind}-ubyte", what="MNIST's idx file of that name")
        for kind in ("images-idx3", "labels-idx1")
    )
    images, labels = read_idx(image_file, 3), read_idx(label_file, 1)
    if len(labels) != len(images):
        raise UserError(f"{label_file} has {len(labels)} labels where {len(images)} are expected, one for each image")
    if int(labels.max()) > 9:
        raise UserError(f"{label_file} has a label {int(labels.max())} where digits from 0 to 9 are expected")
    return LabelledImages(images, labels)
