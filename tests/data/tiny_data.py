"""Data sets of a few rows in the layouts of the published ones."""

import csv
import gzip
import io
import struct
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def idx_bytes(shape: Sequence[int], values: Sequence[int]) -> bytes:
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(values)


def write(path: Path, data: bytes) -> Path:
    """Packed if the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_mnist(folder: Path, train: int = 5, test: int = 3, side: int = 2, suffix: str = "") -> None:
    """Image n of either part has the grey values n, n + 1, … and the label n mod 10."""
    for part, count in (("train", train), ("t10k", test)):
        grey = [(number + pixel) % 256 for number in range(count) for pixel in range(side * side)]
        labels = [number % 10 for number in range(count)]
        write(folder / f"{part}-images-idx3-ubyte{suffix}", idx_bytes((count, side, side), grey))
        write(folder / f"{part}-labels-idx1-ubyte{suffix}", idx_bytes((count,), labels))


def write_csv(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    return write(path, text.getvalue().encode())


def write_glove(path: Path, vectors: Mapping[str, Sequence[float]]) -> Path:
    lines = (f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in vectors.items())
    return write(path, "".join(lines).encode())


def write_tar(path: Path, files: dict[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path
