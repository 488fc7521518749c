"""Data sets of a few rows in the layouts of the published ones."""

import csv
import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random


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


def png_bytes(rows: Sequence[Sequence[int]], *, kind: Sequence[int] = (1, 0, 0, 0, 0), filtered: int = 0) -> bytes:
    """A PNG file in black and white; 1 is ink, which the file has as 0."""
    packed = b""
    for row in rows:
        bits = "".join(str(1 - bit) for bit in row).ljust(-(-len(row) // 8) * 8, "0")
        packed += bytes([filtered]) + bytes(int(bits[start : start + 8], 2) for start in range(0, len(bits), 8))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), *kind)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(packed)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def write_omniglot(folder: Path, characters: int = 4, examples: int = 2, side: int = 21) -> None:
    """Random drawings, two thirds of the characters in the first archive."""
    random = Random(0)
    for part, numbers in (
        ("background", range(2 * characters // 3)),
        ("evaluation", range(2 * characters // 3, characters)),
    ):
        files = {}
        for number in numbers:
            folder_of_character = f"images_{part}/Alphabet{number // 7:02}/character{number % 7 + 1:02}"
            for example in range(examples):
                picture = [[random.randint(0, 1) for _ in range(side)] for _ in range(side)]
                files[f"{folder_of_character}/{number:04}_{example:02}.png"] = png_bytes(picture)
        write_zip(folder / f"images_{part}.zip", files)


def babi_story(number: int) -> str:
    """Longer, and with more questions, from number to number."""
    lines = [
        f"Mary went to place{number}.",
        *["It rained."] * (number % 3),
        f"What has Mary? \tmilk,place{number}\t1",
        "John left.",
        f"Where is John?\tplace{number}\t1",
        *[f"Where is Mary?\tplace{number}\t1"] * (number % 2),
    ]
    return "".join(f"{count} {line}\n" for count, line in enumerate(lines, start=1))


def babi_files(stories: int) -> dict[str, str]:
    """So many stories for each task and part; the first of task 1 has the number 0."""
    return {
        f"tasks_1-20_v1-2/en-10k/qa{task}_some-name_{part}.txt": "".join(
            babi_story(number + task - 1) for number in range(stories)
        )
        for task in range(1, 21)
        for part in ("train", "test")
    }


def write_babi(folder: Path, stories: int) -> Path:
    return write_tar(folder / "babi_tasks_1-20_v1-2_en.tar.gz", babi_files(stories))
