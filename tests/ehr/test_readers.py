from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mnemon.ehr.meds_export import write_meds
from mnemon.ehr.records import Records
from mnemon.ehr.sources import read_source
from mnemon.errors import UserError
from tests.ehr.tiny_records import write_mimic3, write_table, write_text


def codes(records: Records, view: str) -> list[list[str]]:
    """The codes of each visit."""
    events = records.views[view]
    numbers, offsets = events.codes.values.tolist(), events.codes.offsets.tolist()
    return [[events.known[number] for number in numbers[a:b]] for a, b in pairwise(offsets)]


def skipped(records: Records) -> dict[str, tuple[int, list[str]]]:
    return {reason: (note.count, note.examples) for reason, note in records.notes.skipped.items()}


def write_small_mimic3(folder: Path) -> Path:
    write_table(
        folder / "ADMISSIONS.csv",
        "SUBJECT_ID,HADM_ID,ADMITTIME,DISCHTIME",
        [
            (5, 50, "2120-05-01 10:00:00", "2120-05-03 10:00:00"),
            (4, 41, "2110-05-01 10:00:00", "2110-04-01 10:00:00"),
            (4, 40, "2100-05-01 10:00:00", "2100-05-09 10:00:00"),
            (4, 40, "2130-05-01 10:00:00", "2130-05-09 10:00:00"),
            (6, 60, "soon", "2100-05-09 10:00:00"),
        ],
    )
    rows = [(40, 2, "B"), (40, 1, "A"), (41, 1, "C"), (99, 1, "A"), (50, 1, None), (50, "x", "A"), (50, 4, "A")]
    write_table(folder / "DIAGNOSES_ICD.csv", "HADM_ID,SEQ_NUM,ICD9_CODE", rows)
    write_table(
        folder / "PRESCRIPTIONS.csv",
        "HADM_ID,STARTDATE,FORMULARY_DRUG_CD,NDC,DRUG",
        [
            (40, "2100-05-03 00:00:00", "X", "1", "drug x"),
            (40, "2100-05-02 00:00:00", "Y", "0", "drug y"),
            (40, "2100-05-02 00:00:00", "X", "2", "another x"),
            (40, None, "X", "1", "drug x"),
        ],
    )
    return folder


def test_mimic3(tmp_path: Path) -> None:
    records = read_source(write_small_mimic3(tmp_path))
    assert records.source == "mimic3"
    assert records.patients == ["4", "5"]
    assert records.visit_patient.tolist() == [0, 0, 1]
    assert (np.diff(records.visit_start[:2]) > 0).all()
    assert codes(records, "diagnosis") == [["A", "B"], ["C"], ["A"]]
    assert codes(records, "procedure") == [[], [], []]
    assert codes(records, "drug") == [["Y", "X", "X"], [], []]
    assert records.views["drug"].names == {"X": "drug x", "Y": "drug y"}
    assert skipped(records) == {
        "ADMITTIME is no time": (1, ["ADMISSIONS.csv line 6"]),
        "an admission that was listed before": (1, ["ADMISSIONS.csv line 5"]),
        "a diagnosis of an admission that is not listed": (1, ["DIAGNOSES_ICD.csv line 5"]),
        "no ICD9_CODE": (1, ["DIAGNOSES_ICD.csv line 6"]),
        "SEQ_NUM is no whole number": (1, ["DIAGNOSES_ICD.csv line 7"]),
        "no STARTDATE": (1, ["PRESCRIPTIONS.csv line 5"]),
    }
    assert records.notes.noticed["DISCHTIME is before ADMITTIME"].examples == ["ADMISSIONS.csv line 3"]


def test_other_codes_of_drugs(tmp_path: Path) -> None:
    write_small_mimic3(tmp_path)
    assert codes(read_source(tmp_path, drug_code="name"), "drug")[0] == ["drug y", "another x", "drug x"]
    by_ndc = read_source(tmp_path, drug_code="ndc")
    assert codes(by_ndc, "drug")[0] == ["2", "1"]
    assert skipped(by_ndc)["NDC is 0, which names no drug"] == (1, ["PRESCRIPTIONS.csv line 3"])
    with pytest.raises(UserError, match="no code of drugs is called 'atc': write one of formulary, ndc, name"):
        read_source(tmp_path, drug_code="atc")


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_files_in_any_case_plain_or_packed(tmp_path: Path, ending: str, lower: bool) -> None:
    records = read_source(write_mimic3(tmp_path, ending=ending, lower=lower))
    assert (len(records.patients), len(records.visit_patient)) == (12, 24)
    assert codes(records, "diagnosis")[:2] == [["D1", "D2", "D3"], ["D2", "D3", "D4"]]
    assert codes(records, "procedure")[0] == ["P1", "P2"]
    assert records.views["diagnosis"].names["D3"] == "Disease 3, unspecified"
    assert "D4" not in records.views["diagnosis"].names


def test_only_the_tables_of_some_views_are_read(tmp_path: Path) -> None:
    write_mimic3(tmp_path)
    write_text(tmp_path / "PRESCRIPTIONS.csv", "nonsense")
    records = read_source(tmp_path, views=("diagnosis", "procedure"))
    assert len(records.views["drug"].codes.values) == 0
    with pytest.raises(UserError, match="has no column HADM_ID"):
        read_source(tmp_path)


def write_eicu(folder: Path) -> Path:
    write_table(
        folder / "patient.csv",
        "patientunitstayid,uniquepid,hospitaldischargeyear,age,patienthealthsystemstayid,unitvisitnumber",
        [
            (3, "a-1", 2015, 60, 9, 1),
            (2, "a-1", 2014, 60, 8, 2),
            (1, "a-1", 2014, 60, 8, 1),
            (4, "b-2", 2014, "> 89", 7, 1),
        ],
    )
    write_table(
        folder / "diagnosis.csv",
        "patientunitstayid,diagnosisoffset,diagnosisstring,diagnosispriority",
        [(1, 50, "heart|shock", "Other"), (1, 60, "lung|failure", "Primary"), (1, 10, "heart|shock", "Other")],
    )
    write_table(
        folder / "treatment.csv",
        "patientunitstayid,treatmentoffset,treatmentstring",
        [(1, 30, "heart|pacing"), (1, 20, "lung|ventilation"), (4, 0, "heart|pacing"), (8, 0, "x")],
    )
    write_table(
        folder / "medication.csv.gz",
        "patientunitstayid,drugstartoffset,drugname,drughiclseqno,drugordercancelled",
        [
            (1, 1500, "aspirin", None, "No"),
            (1, -5, None, 77, "No"),
            (1, 5, "Heparin 5", 77, "No"),
            (1, 7, "Heparin 5", 77, "Yes"),
            (1, 8, None, None, "No"),
        ],
    )
    return folder


def test_eicu(tmp_path: Path) -> None:
    records = read_source(write_eicu(tmp_path))
    assert records.source == "eicu"
    assert records.patients == ["a-1", "b-2"]
    assert records.visit_patient.tolist() == [0, 0, 0, 1]
    assert codes(records, "diagnosis") == [["lung|failure", "heart|shock"], [], [], []]
    assert codes(records, "procedure") == [["lung|ventilation", "heart|pacing"], [], [], ["heart|pacing"]]
    assert codes(records, "drug") == [["HICL 77", "HICL 77", "ASPIRIN"], [], [], []]
    day = 24 * 60 * 60 * 1_000_000
    assert (records.views["drug"].times // day).tolist() == [-1, 0, 1]
    assert records.views["diagnosis"].names["heart|shock"] == "shock"
    assert records.views["drug"].names == {"HICL 77": "Heparin 5", "ASPIRIN": "aspirin"}
    assert skipped(records) == {
        "a diagnosis that repeats in its stay": (1, ["diagnosis.csv line 2"]),
        "a procedure of an admission that is not listed": (1, ["treatment.csv line 5"]),
        "a cancelled order of a drug": (1, ["medication.csv.gz line 5"]),
        "neither drughiclseqno nor drugname": (1, ["medication.csv.gz line 6"]),
    }


def write_desynpuf(folder: Path, summaries: bool = True) -> Path:
    many = ",".join(f"ICD9_DGNS_CD_{number}" for number in range(1, 11))
    header = f"DESYNPUF_ID,CLM_ID,SEGMENT,CLM_ADMSN_DT,{many},ICD9_PRCDR_CD_1,ICD9_PRCDR_CD_2"
    empty = [None] * 8
    write_table(
        folder / "inpatient/DE1_0_2008_to_2010_Inpatient_Claims_Sample_1.csv.gz",
        header,
        [
            ("F1", 2, 1, 20090102, "A", "B", *empty, "9904", "401"),
            ("F1", 1, 1, 20080102, "B", None, *empty, None, None),
            ("F1", 2, 2, 20090102, "C", None, *empty, "3893", None),
        ],
    )
    other = folder / "inpatient/DE1_0_2008_to_2010_Inpatient_Claims_Sample_2.csv"
    write_table(other, header, [("F0", 3, 1, 20080102, "A", "A", *empty, None, None)] * 2)
    if summaries:
        path = folder / "beneficiary/DE1_0_2008_Beneficiary_Summary_File_Sample_1.csv"
        write_table(path, "DESYNPUF_ID,BENE_BIRTH_DT", [("F1", 19430101)])
    return folder


def test_desynpuf(tmp_path: Path) -> None:
    records = read_source(write_desynpuf(tmp_path))
    assert records.source == "desynpuf"
    assert records.visit_patient.tolist() == [0, 1, 1]
    assert codes(records, "diagnosis") == [["A", "A"], ["B"], ["A", "B", "C"]]
    assert codes(records, "procedure") == [[], [], ["9904", "3893"]]  # of the column that holds procedures alone
    assert codes(records, "drug") == [[], [], []]
    name = "DE1_0_2008_to_2010_Inpatient_Claims_Sample_2.csv"
    assert skipped(records) == {"an admission that was listed before": (1, [f"{name} line 3"])}
    noticed = records.notes.noticed["a claim of a patient without a beneficiary summary"]
    assert (noticed.count, noticed.examples) == (2, [f"{name} line 2", f"{name} line 3"])


def same(one: Records, two: Records) -> bool:
    return (
        one.visit_patient.tolist() == two.visit_patient.tolist()
        and one.visit_start.tolist() == two.visit_start.tolist()
        and all(codes(one, view) == codes(two, view) for view in one.views)
        and all(one.views[view].names == two.views[view].names for view in one.views)
        and all(one.views[view].times.tolist() == two.views[view].times.tolist() for view in one.views)
    )


def test_meds_and_back(tmp_path: Path) -> None:
    for number, write in enumerate((write_small_mimic3, write_mimic3, write_eicu, write_desynpuf)):
        records = read_source(write(tmp_path / f"source{number}"))
        out = tmp_path / f"meds{number}"
        rows = write_meds(records, out)
        assert rows == len(records.visit_patient) + sum(len(events.codes.values) for events in records.views.values())
        again = read_source(out)
        assert again.source == "meds"
        assert same(records, again)
        assert again.notes.document() == {"skipped": {}, "noticed": {}}


def test_the_schema_of_meds(tmp_path: Path) -> None:
    write_meds(read_source(write_mimic3(tmp_path / "source")), tmp_path / "meds")
    frame = pl.read_parquet(tmp_path / "meds/data/0.parquet")
    assert {name: frame.schema[name] for name in ("subject_id", "time", "code", "numeric_value")} == {
        "subject_id": pl.Int64,
        "time": pl.Datetime("us"),
        "code": pl.String,
        "numeric_value": pl.Float32,
    }
    assert frame.equals(frame.sort("subject_id", "time", maintain_order=True))
    described = pl.read_parquet(tmp_path / "meds/metadata/codes.parquet")
    assert described.schema == {"code": pl.String, "description": pl.String, "parent_codes": pl.List(pl.String)}
    assert set(frame["code"]) == set(described["code"])


def write_shard(path: Path, rows: list[tuple[int | None, str | None, str | None]], **more: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame(rows, schema={"subject_id": pl.Int64, "time": pl.String, "code": pl.String}, orient="row")
    frame = frame.with_columns(pl.col("time").str.to_datetime("%Y-%m-%d", time_unit="us"))
    frame.with_columns(**{name: pl.Series(values) for name, values in more.items()}).write_parquet(path)
    return path


def test_visits_are_found_from_admissions_and_discharges(tmp_path: Path) -> None:
    write_shard(
        tmp_path / "data/train/0.parquet",
        [
            (1, None, "GENDER//F"),
            (1, "2000-01-01", "DIAGNOSIS//ICD//9//early"),
            (1, "2000-01-02", "HOSPITAL_ADMISSION//EMERGENCY"),
            (1, "2000-01-03", "MEDICATION//START//aspirin"),
            (1, "2000-01-03", "MEDICATION//STOP//aspirin"),
            (1, "2000-01-04", "HOSPITAL_DISCHARGE//HOME"),
            (1, "2000-01-04", "DIAGNOSIS//ICD//9//401"),
            (1, "2000-01-05", "RxNorm/99"),
            (1, "2001-01-02", "HOSPITAL_ADMISSION//URGENT"),
            (1, "2001-01-03", "LAB//x"),
            (1, "2001-01-03", "ICD9Proc/3893"),
            (None, "2001-01-03", "DIAGNOSIS//x"),
        ],
    )
    write_shard(tmp_path / "data/test/0.parquet", [(2, "2001-01-03", "DIAGNOSIS//x"), (2, None, "DIAGNOSIS//y")])
    records = read_source(tmp_path)
    assert codes(records, "diagnosis") == [["ICD//9//401"], []]
    assert codes(records, "procedure") == [[], ["ICD9Proc/3893"]]
    assert codes(records, "drug") == [["START//aspirin"], []]
    assert skipped(records) == {
        "no subject_id, time or code": (2, ["data/test/0.parquet line 2", "data/train/0.parquet line 12"]),
        "an event outside any admission": (
            3,
            ["data/test/0.parquet line 1", "data/train/0.parquet line 2", "data/train/0.parquet line 8"],
        ),
    }


def test_visits_are_told_by_a_column(tmp_path: Path) -> None:
    rows = [(1, "2000-01-01", "DIAGNOSIS//b"), (1, "2000-01-02", "DIAGNOSIS//a"), (1, "1999-01-02", "DIAGNOSIS//c")]
    write_shard(tmp_path / "data/0.parquet", [*rows, rows[0]], hadm_id=[7, 7, 8, None], seq_num=[2, 1, 1, 1])
    records = read_source(tmp_path)
    assert codes(records, "diagnosis") == [["c"], ["a", "b"]]
    assert skipped(records) == {"an event outside any admission": (1, ["data/0.parquet line 4"])}


def test_meds_that_is_none(tmp_path: Path) -> None:
    path = write_shard(tmp_path / "data/0.parquet", [(1, "2000-01-01", "DIAGNOSIS//b")])
    with pytest.raises(UserError, match="tells no visits: its events need a column hadm_id or visit_id, or codes"):
        read_source(tmp_path)
    pl.DataFrame({"subject_id": [1], "code": ["x"]}).write_parquet(path)
    with pytest.raises(UserError, match="has no column time: it is no shard of MEDS"):
        read_source(tmp_path)
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(UserError, match=f"^{path} is no shard of MEDS: ") as caught:
        read_source(tmp_path)
    assert "\n" not in str(caught.value)
    pl.DataFrame({"subject_id": ["one"], "time": ["x"], "code": [None]}).write_parquet(path)
    with pytest.raises(UserError, match=f"^{path} is no shard of MEDS: "):
        read_source(tmp_path)


def test_recognising_a_format(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no health records that are known: write --format and one of mimic3"):
        read_source(tmp_path)
    with pytest.raises(UserError, match="nowhere is not a folder: write the one that holds the health records"):
        read_source(tmp_path / "nowhere")
    with pytest.raises(UserError, match="no format is called 'mimic4': did you mean 'mimic3'"):
        read_source(tmp_path, "mimic4")
    for name, missing in {
        "mimic3": "ADMISSIONS.csv is missing",
        "eicu": "patient.csv is missing",
        "desynpuf": "Inpatient_Claims_",
        "meds": "data/\\*.parquet is missing",
    }.items():
        with pytest.raises(UserError, match=missing):
            read_source(tmp_path, name)
    write_eicu(write_mimic3(tmp_path))
    with pytest.raises(UserError, match="looks like mimic3 and eicu: write --format and one of"):
        read_source(tmp_path)
    assert read_source(tmp_path, "eicu").source == "eicu"


def test_no_admission_at_all(tmp_path: Path) -> None:
    write_mimic3(tmp_path)
    write_table(tmp_path / "ADMISSIONS.csv", "SUBJECT_ID,HADM_ID,ADMITTIME,DISCHTIME", [])
    with pytest.raises(UserError, match="there is no admission to read in this mimic3 folder: check its tables"):
        read_source(tmp_path)
