import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.data.notes import Notes
from mnemon.ehr import rows as rows_module
from mnemon.ehr.rows import read_header, read_rows
from mnemon.errors import UserError
from tests.ehr.tiny_records import write_text


def read(path: Path, block: int = 1 << 20) -> tuple[list[list[str]], list[int], dict[str, list[str]]]:
    """Fields and lines of the good rows, and the places of the others."""
    notes = Notes()
    text, lines = b"", []
    for rows in read_rows(path, notes, block):
        text += rows.text
        lines += rows.lines.tolist()
    fields = list(csv.reader(io.StringIO(text.decode(), newline="")))
    return fields, lines, {reason: note.examples for reason, note in notes.skipped.items()}


BLOCKS = [1, 2, 7, 1 << 20]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_rows_and_their_lines(tmp_path: Path, block: int, ending: str) -> None:
    text = '\ufeffa,"b",c\r\n1,"x, ""y""\nz",3\r\n\r\n4,5,\n"","é",6'
    path = write_text(tmp_path / f"t{ending}", text)
    assert read_header(path) == ["a", "b", "c"]
    fields, lines, skipped = read(path, block)
    assert fields == [["1", 'x, "y"\nz', "3"], ["4", "5", ""], ["", "é", "6"]]
    assert lines == [2, 5, 6]
    assert skipped == {}


@pytest.mark.parametrize("block", BLOCKS)
def test_rows_that_are_none_are_counted(tmp_path: Path, block: int) -> None:
    bad = b"a,b\n1\n1,2,3\n1,\xff\n1,2\n1,\xc3\xa9\n"
    fields, lines, skipped = read(write_text(tmp_path / "t.csv", bad), block)
    assert (fields, lines) == ([["1", "2"], ["1", "é"]], [5, 6])
    assert skipped == {
        "more or fewer fields than the header": ["t.csv line 2", "t.csv line 3"],
        "not UTF-8 text": ["t.csv line 4"],
    }


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("bad", ['1,5" tube', '1,"open', '1,"a"b', '"1,2'])
def test_a_stray_quote_costs_its_line_only(tmp_path: Path, bad: str, block: int) -> None:
    text = f'a,b\n0,"x"\n{bad}\n2,"y"\n3,z\n4,"v, w"\n'
    fields, lines, skipped = read(write_text(tmp_path / "t.csv", text), block)
    assert fields == [["0", "x"], ["2", "y"], ["3", "z"], ["4", "v, w"]]
    assert lines == [2, 4, 5, 6]
    assert skipped == {"quotes that do not match": ["t.csv line 3"]}


def test_a_quote_that_is_never_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_text(tmp_path / "t.csv", 'a,b\n1,"open\n' + "2,3\n" * 50)
    assert read(path, 16)[1] == list(range(3, 53))
    monkeypatch.setattr(rows_module, "LONGEST_ROW", 20)
    assert read(path, 16)[1] == list(range(3, 53))
    with pytest.raises(UserError, match=r"t\.csv line 2 is longer than 20 bytes: is it csv"):
        read(write_text(tmp_path / "t.csv", "a,b\n" + "x" * 100), 16)


def test_too_many_stray_quotes(tmp_path: Path) -> None:
    path = write_text(tmp_path / "t.csv", "a,b\n" + 'x"y,2\n' * 1001)
    with pytest.raises(UserError, match="more than 1,000 lines with unmatched quotes: is it csv"):
        read(path)


@pytest.mark.parametrize("text", ["a,b\n1,2\n3", 'a,b\n1,2\n3,"4', "a,b\n1,2\n3,4,5"])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_file_that_stops_in_a_row(tmp_path: Path, text: str, block: int) -> None:
    path = write_text(tmp_path / "t.csv", text)
    with pytest.raises(UserError) as caught:
        read(path, block)
    assert str(caught.value) == f"{path} stops in the middle of line 3: copy the file again"


def test_a_packed_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    whole = gzip.compress(b"a,b\n" + bytes(f"{list(range(2000))}", "ascii") + b"\n1,2\n")
    path.write_bytes(whole[:-200])
    with pytest.raises(UserError) as caught:
        read(path)
    assert str(caught.value) == f"{path} is cut off: copy the file again"
    path.write_bytes(b"no gzip at all")
    with pytest.raises(UserError, match=f"^cannot read {path}: Not a gzipped file"):
        read(path)


def test_empty_files(tmp_path: Path) -> None:
    path = write_text(tmp_path / "t.csv", "")
    with pytest.raises(UserError, match="is empty: a csv file with a header is expected"):
        read(path)
    assert read(write_text(path, "a,b\n"))[0] == []
    assert read(write_text(path, "a,b"))[0] == []
    with pytest.raises(UserError, match="does not begin with a header: it is not UTF-8"):
        read(write_text(path, b"\xff\xfe\n"))


FIELD = st.text(alphabet='ab,"\né \t', max_size=6)


@settings(deadline=None)
@given(st.lists(st.tuples(FIELD, FIELD, FIELD), max_size=8), st.integers(1, 40), st.booleans())
def test_what_pythons_csv_writes_is_read(table: list[tuple[str, str, str]], block: int, quoted: bool) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerow("abc")
    writer.writerows(table)
    notes = Notes()
    reader = rows_module._Reader(Path("t.csv"), 3, notes)
    data = out.getvalue().encode()
    found = [rows for start in range(0, len(data), block) for rows in reader.take(data[start : start + block])]
    found += reader.finish()
    text = b"".join(rows.text for rows in found).decode()
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))] == table
    assert notes.skipped == {}
    numbers = [int(line) for rows in found for line in rows.lines]
    ends = [2 + sum("".join(row).count("\n") + 1 for row in table[:count]) for count in range(len(table))]
    assert numbers == ends


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(1, 20))
def test_any_bytes_give_rows_or_one_clear_line(data: bytes, block: int) -> None:
    notes = Notes()
    reader = rows_module._Reader(Path("t.csv"), 2, notes)
    try:
        found = [rows for start in range(0, len(data), block) for rows in reader.take(data[start : start + block])]
        found += reader.finish()
    except UserError:
        return
    for rows in found:
        assert rows.text.endswith(b"\n")
        parsed = list(csv.reader(io.StringIO(rows.text.decode(), newline=""), strict=True))
        assert len(parsed) == len(rows.lines)
