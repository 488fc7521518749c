"""``mnemon ehr`` as a user meets it: in its own process."""

import json
from pathlib import Path

import pytest

from mnemon.ehr.extra import require_extra
from mnemon.ehr.folders import check_free, new_folder
from mnemon.ehr.prepared import load_prepared
from mnemon.ehr.sources import read_source
from mnemon.errors import UserError
from tests.command_server import run as mnemon
from tests.ehr.tiny_records import write_mimic3


def test_prepare_prints_tables_and_refuses_to_overwrite(tmp_path: Path) -> None:
    folder = write_mimic3(tmp_path / "source")
    with (folder / "DIAGNOSES_ICD.csv").open("a") as file:
        file.write("1000,x,D1\n")
    arguments = ["ehr", "prepare", "source", "out", "--task", "procedures"]
    done = mnemon(*arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for line in (
        "# of unique diagnosis codes",
        "SEQ_NUM is no whole number",
        "DIAGNOSES_ICD.csv line 74",
        "left out: 4",
    ):
        assert line in done.stdout
    before = (tmp_path / "out/ehr.json").read_bytes()
    again = mnemon(*arguments, "--seed", "1", folder=tmp_path)
    assert again.returncode == 2
    assert again.stderr == "mnemon: out is not empty: write another folder, or --overwrite to replace it\n"
    assert (tmp_path / "out/ehr.json").read_bytes() == before
    replaced = mnemon(*arguments, "--seed", "1", "--overwrite", "--json", folder=tmp_path)
    document = json.loads(replaced.stdout)
    assert replaced.stderr == ""
    assert (document["task"], document["folder"], document["seed"]) == ("procedures", "out", 1)
    assert document["skipped"]["SEQ_NUM is no whole number"] == {"count": 1, "first": ["DIAGNOSES_ICD.csv line 74"]}
    assert load_prepared(tmp_path / "out").seed == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]


def test_export_and_prepare_from_it(tmp_path: Path) -> None:
    write_mimic3(tmp_path / "source")
    done = mnemon("ehr", "export", "source", "meds", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["events"] == 24 * (1 + 3 + 2 + 4)
    assert done.stderr == ""
    prepared = mnemon("ehr", "prepare", "meds", "out", "--task", "drugs-set", folder=tmp_path)
    assert prepared.returncode == 0, prepared.stderr
    assert load_prepared(tmp_path / "out").report["kept"]["admissions"] == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ehr"], "prepare, export"),
        (["ehr", "prepare", "x", "y"], "--task"),
        (
            ["ehr", "prepare", "x", "y", "--task", "procedures"],
            "x is not a folder: write the one that holds",
        ),
        (["ehr", "prepare", ".", "y", "--task", "procedures"], ". holds no health records that are known"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = mnemon(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("mnemon: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_only_a_folder_of_the_same_kind_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    check_free(folder, "mark", overwrite=False)
    folder.mkdir()
    check_free(folder, "mark", overwrite=False)
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="out has no mark, so it is not replaced: write another folder"):
        check_free(folder, "mark", overwrite=True)
    (folder / "mark").write_text("")
    check_free(folder, "mark", overwrite=True)
    with pytest.raises(UserError, match="mark is a file: write a folder that is not there yet"):
        check_free(folder / "mark", "mark", overwrite=True)


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    with new_folder(folder) as partial:
        (partial / "a").write_text("1")
        assert not folder.exists()
    with pytest.raises(ValueError, match="x"), new_folder(folder) as partial:
        (partial / "b").write_text(str(int("x")))
    assert [path.name for path in folder.iterdir()] == ["a"]
    with new_folder(folder) as partial:
        (partial / "c").write_text("3")
    assert [path.name for path in folder.iterdir()] == ["c"]
    assert [path.name for path in folder.parent.iterdir()] == ["out"]
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot write .*: File exists"), new_folder(tmp_path / "file" / "out"):
        pass


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_extra("polars", "reading health records")
    with pytest.raises(UserError) as caught:
        require_extra("no_such_package", "a test")
    assert str(caught.value) == "a test needs no_such_package: pip install 'mnemon[ehr]'"
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"reading health records needs polars: pip install 'mnemon\[ehr\]'"):
        read_source(write_mimic3(tmp_path))
