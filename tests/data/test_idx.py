from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.data.idx import read_idx, read_mnist
from mnemon.errors import UserError
from tests.data.tiny_data import idx_bytes, write, write_mnist


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.booleans(), st.data())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, shape: list[int], packed: bool, data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.integers(0, 255), min_size=prod(shape), max_size=prod(shape)))
    path = tmp_path_factory.mktemp("idx") / ("file.gz" if packed else "file")
    found = read_idx(write(path, idx_bytes(shape, values)), len(shape))
    assert list(found.shape) == shape
    assert found.flatten().tolist() == values


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_mnist(tmp_path: Path, suffix: str) -> None:
    write_mnist(tmp_path, train=12, test=3, side=2, suffix=suffix)
    train, test = read_mnist(tmp_path)
    assert (train.images.shape, test.images.shape) == ((12, 2, 2), (3, 2, 2))
    assert train.images[11].tolist() == [[11, 12], [13, 14]]
    assert train.labels.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    assert test.labels.tolist() == [0, 1, 2]


IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
WHOLE = idx_bytes((5, 2, 2), range(20))
DAMAGED: dict[str, tuple[str, bytes]] = {
    f"{IMAGES} is not an idx file of bytes in 3 dimensions": (IMAGES, b"png"),
    f"{LABELS} is not an idx file of bytes in 1 dimensions": (LABELS, WHOLE),
    f"{IMAGES} has 19 bytes of data where 5 × 2 × 2 = 20 are expected": (IMAGES, WHOLE[:-1]),
    f"{IMAGES} has 21 bytes of data where 5 × 2 × 2 = 20 are expected": (IMAGES, WHOLE + b"x"),
    f"{IMAGES} is empty: numbers are expected after its sizes": (IMAGES, idx_bytes((0, 2, 2), [])),
    f"{LABELS} has 4 labels where 5 are expected, one for each image": (LABELS, idx_bytes((4,), [0, 1, 2, 3])),
    f"{LABELS} has a label 10 where digits from 0 to 9 are expected": (LABELS, idx_bytes((5,), [0, 1, 10, 3, 4])),
}


@pytest.mark.parametrize(("message", "damage"), DAMAGED.items(), ids=DAMAGED.keys())
def test_a_damaged_file(tmp_path: Path, message: str, damage: tuple[str, bytes]) -> None:
    write_mnist(tmp_path)
    write(tmp_path / damage[0], damage[1])
    with pytest.raises(UserError) as caught:
        read_mnist(tmp_path)
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_a_file_cut_in_its_head(tmp_path: Path) -> None:
    path = write(tmp_path / "file", WHOLE[:10])
    with pytest.raises(UserError, match=r"is not an idx file of bytes in 3 dimensions$"):
        read_idx(path, 3)


@pytest.mark.parametrize("name", [IMAGES, LABELS, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"])
def test_a_missing_file(tmp_path: Path, name: str) -> None:
    write_mnist(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(UserError) as caught:
        read_mnist(tmp_path)
    wanted = "put MNIST's idx file of that name there, plain or as .gz"
    assert str(caught.value) == f"{tmp_path}/{name} is missing: {wanted}"
