from pathlib import Path

import polars as pl
import pytest

from mnemon.data.notes import Notes
from mnemon.ehr.tables import Column, empty_table, find_table, need_table, read_whole
from mnemon.errors import UserError
from tests.ehr.tiny_records import write_text

COLUMNS = (
    Column(name="who", header="ID"),
    Column(name="count", header="N", kind="whole number"),
    Column(name="when", header="T", kind="time", needed=False),
    Column(name="more", header="EXTRA", needed=False, optional=True),
)


def test_types_blanks_and_cases(tmp_path: Path) -> None:
    path = write_text(tmp_path / "t.csv", 't,Z,"n",id\n2100-02-03 04:05:06,x, 7 ,"  a "\n,y,-1,b\n21000203,,0,c\n')
    notes = Notes()
    frame = read_whole(path, COLUMNS, notes)
    assert frame["who"].to_list() == ["a", "b", "c"]
    assert frame["count"].to_list() == [7, -1, 0]
    assert [str(moment) for moment in frame["when"]] == ["2100-02-03 04:05:06", "None", "2100-02-03 00:00:00"]
    assert frame["more"].to_list() == [None] * 3
    assert frame["line"].to_list() == [2, 3, 4]
    assert notes.document() == {"skipped": {}, "noticed": {}}
    assert frame.schema == empty_table(COLUMNS).schema


def test_fields_that_do_not_parse_are_counted_once(tmp_path: Path) -> None:
    text = "ID,N,T\na,1.5,2100-01-01\n,2,2100-01-01\nb,,\nc,3,yesterday\nd,x,y\ne,1,2100-13-01\nf,4,\n"
    notes = Notes()
    frame = read_whole(write_text(tmp_path / "t.csv", text), COLUMNS, notes)
    assert frame["who"].to_list() == ["f"]
    assert {reason: (note.count, note.examples) for reason, note in notes.skipped.items()} == {
        "no ID": (1, ["t.csv line 3"]),
        "N is no whole number": (2, ["t.csv line 2", "t.csv line 6"]),
        "no N": (1, ["t.csv line 4"]),
        "T is no time": (2, ["t.csv line 5", "t.csv line 7"]),
    }


def test_only_the_first_places_are_kept(tmp_path: Path) -> None:
    notes = Notes()
    read_whole(write_text(tmp_path / "t.csv", "ID,N,T\n" + ",1,\n" * 9), COLUMNS, notes)
    assert notes.skipped["no ID"].document() == {"count": 9, "first": [f"t.csv line {line}" for line in (2, 3, 4)]}


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = write_text(tmp_path / "t.csv", "ID,T,a,b,c,d,e,f,g\n")
    with pytest.raises(UserError) as caught:
        read_whole(path, COLUMNS, Notes())
    assert str(caught.value) == f"{path} has no column N: its header is id, t, a, b, c, d, e, f, …"


def test_finding_tables(tmp_path: Path) -> None:
    assert find_table(tmp_path, "ADMISSIONS") is None
    with pytest.raises(UserError) as caught:
        need_table(tmp_path, "ADMISSIONS")
    assert str(caught.value) == f"{tmp_path}/ADMISSIONS.csv is missing: put the table there, plain or as .gz"
    path = write_text(tmp_path / "admissions.CSV", "x\n")
    assert need_table(tmp_path, "ADMISSIONS") == path
    write_text(tmp_path / "ADMISSIONS.csv.gz", "x\n")
    with pytest.raises(UserError, match=r"files of one table: keep one of ADMISSIONS\.csv\.gz, admissions\.CSV"):
        find_table(tmp_path, "ADMISSIONS")


def test_a_table_of_a_header_alone(tmp_path: Path) -> None:
    frame = read_whole(write_text(tmp_path / "t.csv", "ID,N,T\n"), COLUMNS, Notes())
    assert frame.is_empty()
    assert frame.schema["count"] == pl.Int64
