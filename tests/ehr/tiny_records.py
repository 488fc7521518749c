"""Small tables in the forms of the sources."""

import gzip
from collections.abc import Sequence
from pathlib import Path

Row = Sequence[object]


def write_table(path: Path, header: str, rows: Sequence[Row]) -> Path:
    lines = [header, *(",".join("" if field is None else str(field) for field in row) for row in rows)]
    return write_text(path, "\n".join(lines) + "\n")


def write_text(path: Path, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_mimic3(folder: Path, patients: int = 12, ending: str = ".csv", lower: bool = False) -> Path:
    """Patients with 1, 2, 3, 1, 2, 3 … admissions; the rows are not in time order."""

    def path(name: str) -> Path:
        return folder / f"{name.lower() if lower else name}{ending}"

    admissions: list[Row] = []
    diagnoses: list[Row] = []
    procedures: list[Row] = []
    drugs: list[Row] = []
    for patient in range(patients):
        for visit in reversed(range(patient % 3 + 1)):
            stay = 1000 + 10 * patient + visit
            admissions.append((7000 + patient, stay, f"21{visit:02}-03-05 11:00:00", f"21{visit:02}-03-15 11:00:00"))
            diagnoses += [(stay, place, f"D{(patient + place + visit) % 5}") for place in (3, 1, 2)]
            procedures += [(stay, place, f"P{(patient + place) % 3}") for place in (2, 1)]
            for day in (6, 5):
                code = f"{(patient + day + visit) % 4}"
                drugs += [(stay, f"21{visit:02}-03-{day:02}", name + code, f"drug {name}") for name in "AB"]
    write_table(path("ADMISSIONS"), "SUBJECT_ID,HADM_ID,ADMITTIME,DISCHTIME", admissions)
    write_table(path("DIAGNOSES_ICD"), "HADM_ID,SEQ_NUM,ICD9_CODE", diagnoses)
    write_table(path("PROCEDURES_ICD"), "HADM_ID,SEQ_NUM,ICD9_CODE", procedures)
    write_table(path("PRESCRIPTIONS"), "HADM_ID,STARTDATE,FORMULARY_DRUG_CD,DRUG", drugs)
    titles = [(f"D{number}", f'"Disease {number}, unspecified"') for number in range(4)]
    write_table(path("D_ICD_DIAGNOSES"), "ICD9_CODE,LONG_TITLE", titles)
    return folder
