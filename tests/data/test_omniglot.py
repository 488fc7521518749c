from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.data.omniglot import read_omniglot, read_png
from mnemon.errors import UserError
from tests.data.tiny_data import png_bytes, write_omniglot, write_zip

INK = [[1, 0], [0, 1]]


@given(st.integers(1, 20), st.randoms(use_true_random=False))
def test_a_picture_goes_through_its_file(side: int, random: object) -> None:
    rows = [[random.randint(0, 1) for _ in range(side)] for _ in range(side)]  # type: ignore[attr-defined]
    assert read_png(png_bytes(rows), "a.png").tolist() == rows


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        png_bytes(INK)[:20],
        png_bytes([[1, 0, 1], [0, 1, 0]]),
        png_bytes(INK, kind=(8, 0, 0, 0, 0)),
        png_bytes(INK, kind=(1, 0, 0, 0, 1)),
        png_bytes(INK, filtered=1),
    ],
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(UserError, match=r"^a\.png is (not a square PNG file in black and white|damaged)"):
        read_png(data, "a.png")


def test_a_damaged_picture() -> None:
    whole = bytearray(png_bytes(INK))
    whole[45] ^= 0xFF
    with pytest.raises(UserError, match=r"^a\.png is damaged: "):
        read_png(bytes(whole), "a.png")


def test_characters_in_the_order_of_their_names(tmp_path: Path) -> None:
    black, white = png_bytes([[1, 1], [1, 1]]), png_bytes([[0, 0], [0, 0]])
    half = png_bytes([[1, 1], [0, 0]])
    write_zip(
        tmp_path / "images_background.zip", {"x/Greek/character02/1.png": white, "x/Greek/character01/1.png": half}
    )
    write_zip(tmp_path / "images_evaluation.zip", {"y/Arabic/character01/1.png": black, "y/readme.txt": b""})
    assert read_omniglot(tmp_path, side=1).tolist() == [[[255]], [[128]], [[0]]]
    assert read_omniglot(tmp_path, side=2)[1].tolist() == [[255, 255, 0, 0]]


def test_scaling_against_a_loop(tmp_path: Path) -> None:
    write_omniglot(tmp_path, characters=3, examples=2, side=6)
    fine, coarse = read_omniglot(tmp_path, side=6), read_omniglot(tmp_path, side=3)
    for character in range(3):
        for example in range(2):
            picture = fine[character, example].view(6, 6).float()
            for y in range(3):
                for x in range(3):
                    expected = torch.round(picture[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].mean())
                    assert abs(int(coarse[character, example, 3 * y + x]) - int(expected)) <= 1


def message(folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_omniglot(folder, side=2)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_and_damaged_archives(tmp_path: Path) -> None:
    first, second = tmp_path / "images_background.zip", tmp_path / "images_evaluation.zip"
    assert message(tmp_path) == f"{first} is missing: put Omniglot's zip file of that name there"
    write_omniglot(tmp_path)
    second.unlink()
    assert message(tmp_path) == f"{second} is missing: put Omniglot's zip file of that name there"
    second.write_bytes(b"no archive")
    assert message(tmp_path) == f"cannot read {second}: File is not a zip file"
    write_zip(second, {"readme.txt": b""})
    assert message(tmp_path) == f"{second} has no ALPHABET/characterNN/*.png in it"
    write_zip(second, {"A/character01/1.png": b"no picture"})
    assert message(tmp_path).startswith(f"{second}: A/character01/1.png is not a square PNG file")
    write_zip(second, {"A/character01/1.png": png_bytes(INK)})
    assert message(tmp_path) == f"{tmp_path} has 1 drawings of A/character01 where others have 2"
    pictures = {"A/character01/1.png": png_bytes(INK), "A/character01/2.png": png_bytes([[1]])}
    write_zip(second, pictures)
    assert message(tmp_path) == f"{tmp_path} has drawings of A/character01 that differ in size"
