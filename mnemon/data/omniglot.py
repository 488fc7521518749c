"""Omniglot's two zip files (Lake et al., 2015): 1,623 characters of 50 alphabets, each drawn by 20 people.

``images_background.zip`` and ``images_evaluation.zip`` hold ``ALPHABET/characterNN/*.png``, pictures in black and white
of 105 × 105 pixels.

Letters: ``K`` characters, ``E`` drawings of a character, ``S`` side of a picture, ``P`` pixels of a picture.
"""

import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from mnemon.data.unpacking import zip_members
from mnemon.errors import UserError

ARCHIVES = ("images_background.zip", "images_evaluation.zip")
DRAWING = re.compile(r"(?:.*/)?([^/]+/character\d+)/[^/]+\.png")
SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST_SIDE = 4096
BLACK_AND_WHITE = (1, 0, 0, 0, 0)  # bits, greyscale, deflate, filters by row, not interlaced


def read_omniglot(folder: Path, side: int) -> UInt8[Tensor, "K E P"]:
    """All drawings, characters in the order of their names, ink as 255, scaled to ``side`` × ``side`` pixels."""
    drawings: defaultdict[str, list[Tensor]] = defaultdict(list)
    for archive in ARCHIVES:
        path = folder / archive
        if not path.is_file():
            raise UserError(f"{path} is missing: put Omniglot's zip file of that name there")
        found = 0
        for name, data in zip_members(path, DRAWING):
            character = DRAWING.fullmatch(name)
            assert character is not None
            drawings[character[1]].append(read_png(data, f"{path}: {name}"))
            found += 1
        if not found:
            raise UserError(f"{path} has no ALPHABET/characterNN/*.png in it")
    counts = {name: len(pictures) for name, pictures in drawings.items()}
    usual = max(counts.values())
    for name, count in counts.items():
        if count != usual:
            raise UserError(f"{folder} has {count} drawings of {name} where others have {usual}")
    for name, pictures in drawings.items():
        if len({picture.shape for picture in pictures}) > 1:
            raise UserError(f"{folder} has drawings of {name} that differ in size")
    return torch.stack([_scaled(torch.stack(drawings[name]), side) for name in sorted(drawings)])


def read_png(data: bytes, name: str) -> UInt8[Tensor, "S S"]:
    """A square picture in black and white as Omniglot has them, ink as 1."""
    problem = UserError(f"{name} is not a square PNG file in black and white, as Omniglot's are")
    if data[: len(SIGNATURE)] != SIGNATURE:
        raise problem
    packed, side = b"", 0
    for kind, body in _chunks(data):
        if kind == b"IHDR":
            width, height, *rest = struct.unpack(">IIBBBBB", body) if len(body) == 13 else (0, 1)
            if width != height or width > LARGEST_SIDE or tuple(rest) != BLACK_AND_WHITE:
                raise problem
            side = width
        elif kind == b"IDAT":
            packed += body
    stride = 1 + (side + 7) // 8  # each row begins with its filter, and none is filtered
    try:
        raw = np.frombuffer(zlib.decompressobj().decompress(packed, side * stride + 1), dtype=np.uint8)
    except zlib.error as error:
        raise UserError(f"{name} is damaged: {error}") from error
    if not side or len(raw) != side * stride or raw[::stride].any():
        raise problem
    bits = np.unpackbits(raw.reshape(side, stride)[:, 1:], axis=1)[:, :side]
    return torch.from_numpy(1 - bits)


def _scaled(pictures: UInt8[Tensor, "E S S"], side: int) -> UInt8[Tensor, "E P"]:
    """Each pixel is the share of ink in its part of the picture, from 0 to 255."""
    shares = adaptive_avg_pool2d(pictures.to(torch.float32), side)
    return (shares * 255).round().to(torch.uint8).flatten(1)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a PNG file: length, kind, body, and a checksum that zlib's own makes needless."""
    start = len(SIGNATURE)
    while start + 8 <= len(data):
        (length,) = struct.unpack(">I", data[start : start + 4])
        yield data[start + 4 : start + 8], data[start + 8 : start + 8 + length]
        start += 12 + length
