"""Damaged parquet is a complaint of one line, never the end of the process."""

import io
from datetime import datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mnemon.ehr.parquet import Kind, column_names, read_blocks
from mnemon.ehr.sources import read_source
from mnemon.errors import UserError
from tests.fuzz.targets import try_bytes

# The header of a data page ends with a struct whose first number is how many values there are: 3, in zigzag.
THREE_VALUES, MINUS_FOUR = b"\x2c\x15\x06", b"\x2c\x15\x07"  # one bit apart; as a size, the second is 2⁶⁴ - 4
KINDS: dict[str, Kind] = {"subject_id": "whole number", "time": "time", "code": "text"}


def shard() -> bytes:
    times = [datetime(2100, 1, day) for day in (1, 2, 3)]
    codes = ["HOSPITAL_ADMISSION//E", "DIAGNOSIS//ICD9CM//401", "HOSPITAL_DISCHARGE"]
    buffer = io.BytesIO()
    pl.DataFrame({"subject_id": [1, 1, 1], "time": times, "code": codes}).write_parquet(buffer, statistics=False)
    return buffer.getvalue()


def folder_with(path: Path, data: bytes) -> Path:
    (path / "data").mkdir(exist_ok=True)
    (path / "data" / "0.parquet").write_bytes(data)
    return path


@pytest.mark.parametrize("column", range(3), ids=list(KINDS))
def test_a_page_that_claims_far_more_values_than_there_are(tmp_path: Path, column: int) -> None:
    pieces = shard().split(THREE_VALUES)
    assert len(pieces) == 4  # a page for each column
    good, bad = (THREE_VALUES.join(half) for half in (pieces[: column + 1], pieces[column + 1 :]))
    with pytest.raises(UserError, match=r"0\.parquet is no shard of MEDS: ") as told:
        read_source(folder_with(tmp_path, good + MINUS_FOUR + bad))
    assert "\n" not in str(told.value)
    assert read_source(folder_with(tmp_path, good + THREE_VALUES + bad)).patients == ["1"]


def test_flipped_bits_of_the_header_of_every_page() -> None:
    whole, place, taken = shard(), -1, []
    while (place := whole.find(THREE_VALUES, place + 1)) >= 0:
        for bit in range(8 * 12):  # sizes stand before the values, encodings after them
            damaged = bytearray(whole)
            damaged[place - 6 + bit // 8] ^= 1 << bit % 8
            taken.append(try_bytes("meds", bytes(damaged)))
    assert len(taken) == 288
    assert taken.count(False) > 100


def test_checksums_of_pages_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"n": [257, 258, 259]}), path, use_dictionary=False, compression="none", write_page_checksum=True
    )
    whole = path.read_bytes()
    place = whole.index((258).to_bytes(8, "little"))
    assert pl.concat(read_blocks(path, {"n": "whole number"}, "bad"))["n"].to_list() == [257, 258, 259]
    path.write_bytes(whole[:place] + b"\x03" + whole[place + 1 :])
    with pytest.raises(UserError, match=r"a\.parquet is bad: it cannot be read"):
        list(read_blocks(path, {"n": "whole number"}, "bad"))


def test_a_small_file_of_very_many_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.select(n=pl.repeat(7, 3_000_000, dtype=pl.Int64)).write_parquet(path)
    assert path.stat().st_size < 10_000
    with pytest.raises(UserError, match=r"a\.parquet unpacks to more than 200 times its size: it is refused"):
        list(read_blocks(path, {"n": "whole number"}, "bad"))


def test_a_long_text_that_stands_everywhere_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"code": text}), path, compression="none", store_schema=False)
    before = pa.total_allocated_bytes()
    (block,) = read_blocks(path, {"code": "text"}, "bad")  # 100 GB, were each written out
    assert (block["code"].str.len_bytes() == 1_000_000).all()
    assert pa.total_allocated_bytes() - before < 2**24


def test_types_that_writers_choose(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    moment = datetime(2100, 1, 2, 3)
    told = {
        "subject_id": pa.array([1, None], pa.uint32()),
        "time": pa.array([moment, None], pa.timestamp("ns", tz="UTC")),
        "code": pa.array(["a", None]).dictionary_encode(),
    }
    pq.write_table(pa.table(told), path)
    assert column_names(path, "bad") == list(KINDS)
    (block,) = read_blocks(path, KINDS, "bad")
    assert block.rows() == [(1, moment, "a"), (None, None, None)]
    assert block.schema == {"subject_id": pl.Int64, "time": pl.Datetime("us"), "code": pl.String}
    pq.write_table(pa.table({**told, "time": pa.array([moment, None], pa.date32())}), path)
    (block,) = read_blocks(path, KINDS, "bad")
    assert block["time"].to_list() == [datetime(2100, 1, 2), None]


def test_columns_that_are_not_there_or_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), path)
    with pytest.raises(UserError, match=r"a\.parquet has more than one column a: it is bad"):
        list(read_blocks(path, {"a": "whole number"}, "bad"))
    with pytest.raises(UserError, match=r"a\.parquet has no column b: it is bad"):
        list(read_blocks(path, {"b": "whole number"}, "bad"))
