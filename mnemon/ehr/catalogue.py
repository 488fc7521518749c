"""Health records as tasks over data sets, by name: what the experiments of §4.5 train on.

Full MIMIC-III may not be passed on, so the experiments take what is there. A folder that itself holds health records
of any known format is prepared; otherwise the open stand-in below it: eICU's demonstration for treatments and drugs,
DE-SynPUF for what comes next. With the stand-ins of treatments, patients with a single visit count too: they have few.
"""

import tempfile
from functools import partial
from pathlib import Path

from mnemon.ehr.prediction import predictions
from mnemon.ehr.prepare import PrepareConfig, prepare, views_of
from mnemon.ehr.prepared import load_prepared
from mnemon.ehr.sources import read_source, recognised
from mnemon.errors import UserError
from mnemon.tasks.catalogue import DataTaskEntry
from mnemon.tasks.labelled import Splits

STAND_INS = {"next-diagnoses": "desynpuf"}  # the others: eICU's
EICU = "eicu_demo"


def read_task(data: Path, task: str, inputs: tuple[str, ...] | None = None) -> Splits:
    """Prepare the health records in a folder, or its stand-in, for a task."""
    source = data
    if recognised(data) is None:
        source = data / STAND_INS.get(task, EICU)
        if not source.is_dir():
            raise UserError(f"{data} holds no health records and no {source.name}: write --data and a folder with some")
    records = read_source(source, views=views_of(task))
    several = records.source == "mimic3" or task == "next-diagnoses"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / task
        prepare(records, PrepareConfig(task=task, min_visits=None if several else 1), out)
        return predictions(load_prepared(out), inputs)


def _entry(task: str, summary: str, thesis: str, inputs: tuple[str, ...] | None = None) -> DataTaskEntry:
    read = partial(read_task, task=task, inputs=inputs)
    return DataTaskEntry(summary=summary, thesis=thesis, file="mnemon/ehr/prediction.py", read=read)


RECORD_TASKS: dict[str, DataTaskEntry] = {
    "procedures": _entry("procedures", "Predict the procedures of a visit from its diagnoses.", "§4.5.2"),
    "drugs-daily": _entry("drugs-daily", "Predict the first drug of each day from the diagnoses.", "§4.5.2"),
    "drugs-set": _entry("drugs-set", "Predict the drugs of a visit from diagnoses and procedures.", "§4.5.4"),
    "drugs-set-diagnosis": _entry("drugs-set", "The same from diagnoses alone.", "§4.5.4", ("diagnosis",)),
    "drugs-set-procedure": _entry("drugs-set", "The same from procedures alone.", "§4.5.4", ("procedure",)),
    "next-diagnoses": _entry("next-diagnoses", "Predict the diagnoses of the next visit from all before.", "§4.5.5"),
}
