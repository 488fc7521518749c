"""Archives that were made to do harm."""

import bz2
import gzip
import io
import lzma
import re
import resource
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemon.data import unpacking
from mnemon.data.files import open_bytes
from mnemon.data.omniglot import read_png
from mnemon.data.unpacking import tar_members, zip_members
from mnemon.errors import UserError
from tests.data.tiny_data import png_bytes

ANY = re.compile(".*")


def packed_tar(members: dict[str, bytes | str]) -> bytes:
    """A tar file; text is where a link leads."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_tar_files_of_all_kinds_read_alike(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "a.tar").write_bytes(pack(packed_tar({"one": b"1", "two": "é".encode()})))
    assert dict(tar_members(tmp_path / "a.tar", ANY)) == {"one": "1", "two": "é"}


def test_nothing_leaves_an_archive_but_its_text(tmp_path: Path) -> None:
    """Names that lead elsewhere are names, links are left out, and nothing is written."""
    (tmp_path / "secret").write_text("secret")
    path = tmp_path / "a.tar"
    path.write_bytes(packed_tar({"../../evil": b"x", "/evil": b"y", "link": str(tmp_path / "secret")}))
    assert dict(tar_members(path, ANY)) == {"../../evil": "x", "/evil": "y"}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../evil", b"z")
    assert dict(zip_members(tmp_path / "a.zip", ANY)) == {"../evil": b"z"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar", "a.zip", "secret"]


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("wanted", [ANY, re.compile("none")], ids=["read", "passed over"])
def test_a_bomb_of_tar(tmp_path: Path, wanted: "re.Pattern[str]", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "ALWAYS_ALLOWED", 1 << 20)
    path = tmp_path / "a.tar.gz"
    member = tarfile.TarInfo("zeros")
    member.size = 1 << 27
    path.write_bytes(gzip.compress(member.tobuf() + bytes(member.size), 1))
    before = peak()
    with pytest.raises(UserError, match=r"more than 67,108,864: it is refused|unpacks to more than 200 times its size"):
        list(tar_members(path, wanted))
    assert peak() - before < 50_000  # kilobytes


def test_a_bomb_of_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "ALWAYS_ALLOWED", 1 << 20)
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(1 << 24)))
    with pytest.raises(UserError, match=r"a.gz unpacks to more than 200 times its size"), open_bytes(path) as file:
        file.read()
    path.write_bytes(gzip.compress(b"a,b,c\n" * (1 << 12)))
    with open_bytes(path) as file:
        assert len(file.read()) == 6 << 12


def test_a_bomb_of_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "LARGEST_MEMBER", 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(1001))
    with pytest.raises(UserError, match=r"a.zip has zeros of 1,001 bytes, more than 1,000: it is refused"):
        list(zip_members(tmp_path / "a.zip", ANY))


def test_a_bomb_of_png() -> None:
    """A picture says its size: no more of it is unpacked than that."""
    small = png_bytes([[0, 1], [1, 0]])
    body = zlib.compress(bytes(1 << 24))
    start = small.index(b"IDAT") - 4
    bomb = small[:start] + len(body).to_bytes(4, "big") + b"IDAT" + body + bytes(4)
    with pytest.raises(UserError, match="is not a square PNG file in black and white"):
        read_png(bomb, "a.png")
