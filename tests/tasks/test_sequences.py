"""Sequences of a user's own in a csv file."""

import gzip
from pathlib import Path

import pytest
import torch

from mnemon.errors import UserError
from mnemon.tasks.catalogue import find_task
from mnemon.tasks.labelled import Splits
from mnemon.tasks.sequences import OwnSequences, own_sequences

HEAD = "sequence,pulse,drug,label\n"


def row_of(number: int, label: str = "up") -> str:
    return f"p{number},{number},aspirin,\np{number},{number + 1},heparin,{label}\n"


def write(folder: Path, text: str, name: str = "train.csv") -> Path:
    (folder / name).write_text(text)
    return folder


def open_all(folder: Path) -> tuple[OwnSequences, OwnSequences, OwnSequences]:
    splits: Splits = own_sequences(folder)
    parts = (splits.train, splits.validation, splits.test)
    assert all(isinstance(part, OwnSequences) for part in parts)
    return parts  # type: ignore[return-value]  # just asserted


def test_rows_become_channels_and_labels_are_asked_where_they_are_written(tmp_path: Path) -> None:
    rows = ["a,1,x,\n", "b,9,,no\n", "a,3,y,yes\n", "a,,x,no\n"]  # rows of two sequences mixed
    write(tmp_path, HEAD + "".join(rows) + "c,5,x,no\nd,5,y,no\n")
    write(tmp_path, HEAD + "e,3,z,yes\n", "test.csv")
    train, validation, test = open_all(tmp_path)
    assert [part.size for part in (train, validation, test)] == [3, 1, 1]
    assert (train.encoding.channels, train.classes) == (("pulse", "drug x", "drug y"), ("no", "yes"))
    batch = train.batch_of(torch.tensor([0]))
    mean, sd = 14 / 4, (((1 - 3.5) ** 2 + 0.25 + 1.5**2 + 1.5**2) / 4) ** 0.5  # of 1, 3, 5, 5
    expected = [[(1 - mean) / sd, 1, 0], [(3 - mean) / sd, 0, 1], [0, 1, 0]]
    torch.testing.assert_close(batch.inputs[:, 0], torch.tensor(expected, dtype=torch.float32))
    assert batch.mask[:, 0].tolist() == [0, 1, 1]
    assert batch.targets[:, 0].tolist() == [[0, 0], [0, 1], [1, 0]]
    assert test.batch_of(torch.tensor([0])).inputs[0, 0, 1:].tolist() == [0, 0]  # an entry never seen


def test_shorter_sequences_are_padded_and_padding_asks_for_nothing(tmp_path: Path) -> None:
    text = "".join(
        f"s{number},{step},a,{'yes' if step == number else ''}\n" for number in range(4) for step in range(number + 1)
    )
    train, *_ = open_all(write(tmp_path, HEAD + text))
    batch = train.batch_of(torch.arange(train.size))
    assert batch.lengths is not None
    for row, length in enumerate(batch.lengths.tolist()):
        assert batch.mask[:, row].sum() == 1
        assert batch.mask[length - 1, row] == 1
        assert not batch.inputs[length:, row].any()
    perfect = batch.targets * 20
    assert train.metrics(perfect, batch) == {"accuracy": 1.0}
    assert "pulse  ▁" in train.render(batch, 0, perfect)


def test_without_a_test_file_every_fifth_sequence_is_tested(tmp_path: Path) -> None:
    train, validation, test = open_all(write(tmp_path, HEAD + "".join(map(row_of, range(20)))))
    assert (train.size, validation.size, test.size) == (14, 2, 4)
    seen = [float(each.inputs[0, 0]) for part in (train, validation, test) for each in part.sequences]
    assert len(set(seen)) == 20
    assert open_all(tmp_path)[2].sequences[0].inputs.equal(test.sequences[0].inputs)


def test_packed_files_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "train.csv.gz").write_bytes(gzip.compress((HEAD + "".join(map(row_of, range(5)))).encode()))
    assert find_task("csv", tmp_path).train.output_size == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column 'sequence'"),
        ("sequence,pulse\na,1\n", "no column 'label'"),
        ("sequence,label\na,yes\n", "has no inputs: add a column"),
        ("sequence,x,x,label\na,1,1,yes\n", "two columns of one name"),
        (HEAD, "the file has no label"),
        (HEAD + "a,1,x\n", "line 2 has 3 entries: write 4"),
        (HEAD + row_of(0) + "q,1,x,\n", "the sequence of line 4 has no label"),
        (HEAD + "".join(map(row_of, range(3))) + "q,12a,x,yes\n", "line 8: '12a' is no number"),
        (HEAD + row_of(0) + row_of(1), "has 2 sequences: write 3 or more"),
        (HEAD + 'a,1,"x,yes\n', "is not a csv file"),
        (HEAD + "".join(f"s{n},{n},e{n},yes\n" for n in range(1500)), "leave it out, or write numbers"),
    ],
)
def test_what_cannot_be_learnt_from_is_told_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        own_sequences(write(tmp_path, text))


def test_a_test_file_must_fit_the_training_file(tmp_path: Path) -> None:
    write(tmp_path, HEAD + "".join(map(row_of, range(4))))
    with pytest.raises(UserError, match="the training file has no label 'down'"):
        own_sequences(write(tmp_path, HEAD + row_of(9, "down"), "test.csv"))
    with pytest.raises(UserError, match="other columns than the training file: write pulse, drug"):
        own_sequences(write(tmp_path, "sequence,drug,label\na,x,up\n", "test.csv"))
    (tmp_path / "test.csv").write_bytes(HEAD.encode() + b"\xff\xfe,1,x,up\n")
    with pytest.raises(UserError, match="not UTF-8"):
        own_sequences(tmp_path)
