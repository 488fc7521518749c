"""Changes to good files, at random but repeatable: for where atheris is not installed, and for the suite."""

import random
import re

WORDS = [b"", b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b"\n", b"\r\n", b"\t", b",", b"<", b"&x;", b"[" * 3000, b"{" * 50]
WORDS += [b"1" * 5000, b"1e400", b"-1", b"NaN", b"null", b"\xd9\xa3", b"\\ud800", b"99999999999999999999", b"true"]


def changed(data: bytes, chance: random.Random) -> bytes:
    """The same with one to four changes."""
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(CHANGES)(data, chance)
    return data


def _flip(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _leave_out(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.randrange(20) :]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.randrange(40)]
    return data[:start] + piece * chance.randrange(1, 5) + data[start:]


def _insert(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + chance.choice(WORDS) + data[start:]


def _replace_number(data: bytes, chance: random.Random) -> bytes:
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    start, end = chance.choice(numbers).span()
    return data[:start] + chance.choice(WORDS) + data[end:]


CHANGES = [_flip, _flip, _cut, _leave_out, _repeat, _insert, _replace_number]
