import json
import math
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.training.files import DamagedFile
from mnemon.training.record import Record, RecordWriter, read_records, write_records

TRAIN = Record(kind="train", step=5, loss=0.1 + 0.2, metrics={"bit errors": 1.5})
EVAL = Record(kind="eval", step=6, loss=0.25, metrics={"bit errors": 2.0, "solved": 0.0}, test="length 40")


def write(path: Path, *records: Record) -> bytes:
    writer = RecordWriter(path)
    for record in records:
        writer.add(record)
    writer.close()
    return path.read_bytes()


def test_round_trip_and_layout(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    assert write(path, TRAIN, EVAL) == (
        b'{"kind": "train", "step": 5, "loss": 0.30000000000000004, '
        b'"metrics": {"bit errors": 1.5}, "crc": "16209568"}\n'
        b'{"kind": "eval", "step": 6, "test": "length 40", "loss": 0.25, '
        b'"metrics": {"bit errors": 2.0, "solved": 0.0}, "crc": "26f518f6"}\n'
    )
    assert read_records(path) == [TRAIN, EVAL]


def test_each_row_is_in_the_file_at_once_and_appended(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, TRAIN)
    writer = RecordWriter(path)
    writer.add(EVAL)
    assert read_records(path) == [TRAIN, EVAL]
    writer.close()


def test_values_that_are_not_finite_are_null(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    data = write(path, Record(kind="train", step=1, loss=math.inf, metrics={"recall": math.nan}))
    expected = {"kind": "train", "step": 1, "loss": None, "metrics": {"recall": None}}
    assert {name: value for name, value in json.loads(data).items() if name != "crc"} == expected
    assert math.isnan(read_records(path)[0].metrics["recall"])


def test_torn_last_line_is_left_out_wherever_it_was_torn(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    whole = write(path, TRAIN, EVAL)
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        assert read_records(path) == [TRAIN]


def test_rows_written_in_one_go_are_those_that_were_added_one_by_one(tmp_path: Path) -> None:
    added = write(tmp_path / "added.jsonl", TRAIN, EVAL)
    write_records(tmp_path / "records.jsonl", [TRAIN, EVAL])
    assert (tmp_path / "records.jsonl").read_bytes() == added


def test_rows_without_a_checksum_are_read(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'{"kind":"train","step":1,"loss":1,"metrics":{}}\n')
    assert read_records(path) == [Record(kind="train", step=1, loss=1.0, metrics={})]


def test_every_flipped_bit_of_a_row_is_found_or_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    line = EVAL.to_line()[:-1]
    refused = 0
    for place in range(len(line)):
        for bit in (1, 8):  # none of which makes a line end
            damaged = bytearray(line)
            damaged[place] ^= bit
            path.write_bytes(bytes(damaged) + b"\n")
            try:
                found = read_records(path)
            except DamagedFile:
                refused += 1
            else:
                assert found == [EVAL]  # as where the name of the checksum itself was hit
    assert refused > 2 * len(line) - 30


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1, 2]",
        b'{"kind": "train"}',
        b'{"kind": "test", "step": 1, "loss": 1, "metrics": {}}',
        b'{"kind": "train", "step": "x", "loss": 1, "metrics": {}}',
        b'{"kind": "train", "step": 1, "loss": 1, "metrics": []}',
        b"\xff\xfe",
        b"",
    ],
)
def test_line_that_is_no_record_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(TRAIN.to_line() + line + b"\n" + EVAL.to_line())
    with pytest.raises(UserError, match=r"records.jsonl line 2 is not a record of a run: [^\n]*$"):
        read_records(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*records.jsonl: No such file"):
        read_records(tmp_path / "records.jsonl")
