"""How long ``mnemon ehr prepare`` takes on tables as large as MIMIC-III's, and how much memory.

Makes tables in its form, four million prescriptions among them, prepares each task in a process of its own, and writes
times and peaks with the facts of the machine:

    python benchmarks/prepare_ehr.py --out results/ehr-prepare.json
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from mnemon.training.files import write_json
from mnemon.training.versions import provenance

PATIENTS, ADMISSIONS, DRUGS = 46_520, 58_976, 3_200
TASKS = ("procedures", "drugs-set")  # one that reads no prescriptions, one that reads all


def write_tables(folder: Path, prescriptions: int, *, packed: bool) -> None:
    """Tables of made-up admissions: as many rows and as wide as the real ones."""
    random = np.random.default_rng(0)
    share = prescriptions / 4_000_000
    admissions = max(10, int(ADMISSIONS * share))
    patient = np.sort(random.integers(0, max(5, int(PATIENTS * share)), admissions))
    start = random.integers(0, 36_500, admissions)
    first = np.datetime64("2100-01-01T00:00:00", "ms")

    def write(name: str, columns: dict[str, object]) -> None:
        frame = pl.DataFrame(columns)
        path = folder / f"{name}.csv"
        frame.with_row_index("ROW_ID").write_csv(path, datetime_format="%Y-%m-%d %H:%M:%S")
        if packed:
            subprocess.run(["gzip", "-1", path], check=True)

    admitted = first + start.astype("timedelta64[D]") + random.integers(0, 86_400, admissions).astype("timedelta64[s]")
    write(
        "ADMISSIONS",
        {
            "SUBJECT_ID": patient + 10_000,
            "HADM_ID": np.arange(admissions) + 100_000,
            "ADMITTIME": admitted,
            "DISCHTIME": admitted + np.timedelta64(7, "D"),
            "DIAGNOSIS": ["made up, for a benchmark"] * admissions,
        },
    )
    for table, mean, codes in (("DIAGNOSES_ICD", 11, 6_984), ("PROCEDURES_ICD", 4, 2_009)):
        lengths = random.poisson(mean, admissions)
        owner = np.repeat(np.arange(admissions), lengths)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        write(
            table,
            {
                "SUBJECT_ID": patient[owner] + 10_000,
                "HADM_ID": owner + 100_000,
                "SEQ_NUM": place + 1,
                "ICD9_CODE": pl.Series((codes * random.random(len(owner)) ** 3).astype(int) + 10_000).cast(pl.String),
            },
        )
    owner = np.sort(random.integers(0, admissions, prescriptions))
    drug = (DRUGS * random.random(prescriptions) ** 3).astype(int)
    begun = first + (start[owner] + random.integers(0, 12, prescriptions)).astype("timedelta64[D]")
    text = pl.Series(drug).cast(pl.String)
    names = "Some drug with a name, number " + text
    write(
        "PRESCRIPTIONS",
        {
            "SUBJECT_ID": patient[owner] + 10_000,
            "HADM_ID": owner + 100_000,
            "ICUSTAY_ID": owner + 200_000,
            "STARTDATE": begun,
            "ENDDATE": begun + np.timedelta64(1, "D"),
            "DRUG_TYPE": ["MAIN"] * prescriptions,
            "DRUG": names,
            "DRUG_NAME_POE": names,
            "DRUG_NAME_GENERIC": names,
            "FORMULARY_DRUG_CD": "DRUG" + text,
            "GSN": "0" + text,
            "NDC": "00006" + text,
            "PROD_STRENGTH": ["25mg/0.5mL Vial"] * prescriptions,
            "DOSE_VAL_RX": ["0.5"] * prescriptions,
            "DOSE_UNIT_RX": ["mL"] * prescriptions,
            "FORM_VAL_DISP": ["1"] * prescriptions,
            "FORM_UNIT_DISP": ["VIAL"] * prescriptions,
            "ROUTE": ["IV"] * prescriptions,
        },
    )


def measure(source: Path, out: Path, task: str) -> dict[str, object]:
    """Prepare in a process of its own: seconds, seconds of processors, and the most memory it held."""
    command = [sys.executable, "-m", "mnemon", "ehr", "prepare", str(source), str(out), "--task", task, "--json"]
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    report = json.loads(child.stdout.read())
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"preparing {task} failed")
    return {
        "task": task,
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_mib": round(used.ru_maxrss / 1024, 1),
        "patients": report["kept"]["patients"],
        "admissions": report["kept"]["admissions"],
    }


def main() -> None:
    """Make the tables, measure each task on plain and on packed ones, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/ehr-prepare.json"))
    parser.add_argument("--prescriptions", type=int, default=4_000_000)
    # A child begins with the peak of its parent, so that the tables are made in a process of their own.
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--packed", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make is not None:
        write_tables(options.make, options.prescriptions, packed=options.packed)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for packed in (False, True):
            source = Path(folder) / ("packed" if packed else "plain")
            source.mkdir()
            make = [sys.executable, __file__, "--make", str(source), "--prescriptions", str(options.prescriptions)]
            subprocess.run([*make, *(["--packed"] if packed else [])], check=True)
            size = sum(path.stat().st_size for path in source.iterdir())
            for task in TASKS:
                row = {"files": "csv.gz" if packed else "csv", "mib": round(size / 2**20, 1)}
                row |= measure(source, Path(folder) / "out", task)
                shutil.rmtree(Path(folder) / "out")
                rows.append(row)
                print(json.dumps(row))
    command = f"python benchmarks/prepare_ehr.py --prescriptions {options.prescriptions}"
    load = round(os.getloadavg()[0], 1)
    facts = {"command": command, "prescriptions": options.prescriptions, "load_average": load}
    write_json(options.out, facts | {"rows": rows, "provenance": provenance() | {"polars": pl.__version__}})


if __name__ == "__main__":
    main()
