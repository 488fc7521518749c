"""From records to a prepared folder: choose visits, split by patient, number the codes, write.

The split is drawn before anything is learned from the codes: vocabularies, and the drugs that are frequent enough to be
predicted, come from the training patients alone.

Letters: ``P`` patients, ``V`` visits, ``E`` codes of a view, ``K`` codes that the records know.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Int32, Int64
from safetensors.numpy import save

from mnemon.ehr.folders import new_folder
from mnemon.ehr.prepared import DOCUMENT, FORMAT, IDENTITIES, SPLITS, TENSORS, VERSION
from mnemon.ehr.ragged import Ragged
from mnemon.ehr.records import Events, Records
from mnemon.ehr.statistics import statistics
from mnemon.ehr.tasks import TASKS, Selection, Task, keep_frequent, select
from mnemon.ehr.vocabulary import FIRST_CODE, UNKNOWN
from mnemon.errors import UserError, look_up
from mnemon.training.files import write_atomically, write_json
from mnemon.training.seeding import batch_seed, generator_from
from mnemon.training.versions import provenance


@dataclass(frozen=True, kw_only=True)
class PrepareConfig:
    """How to prepare records for a task."""

    task: str
    min_visits: int | None = None  # that a patient must have; the task's own number by default
    top_drugs: int = 300  # of a set of drugs, the most frequent
    seed: int = 0
    keep_ids: bool = False  # also write which patient of the source each number is

    def __post_init__(self) -> None:
        look_up(TASKS, self.task, "task of health records")
        if self.min_visits is not None and self.min_visits < 1:
            raise UserError(f"--min-visits is {self.min_visits}: write a whole number of at least 1")
        if self.min_visits == 1 and TASKS[self.task].next_visit:
            raise UserError("a patient with one visit has no next one: write --min-visits 2 or more")
        if self.top_drugs < 1:
            raise UserError(f"--top-drugs is {self.top_drugs}: write a whole number of at least 1")


class _Chosen(NamedTuple):
    """Visits, and the part that each of their patients is in."""

    selection: Selection
    split: Int64[np.ndarray, "P"]

    @property
    def parts(self) -> Int64[np.ndarray, "V"]:
        """The part of each visit."""
        return np.asarray(self.split[self.selection.visit_patient])


def views_of(task: str) -> tuple[str, ...]:
    """The views that a task needs read."""
    chosen = look_up(TASKS, task, "task of health records")
    return tuple(dict.fromkeys((*chosen.inputs, chosen.target)))


def prepare(records: Records, config: PrepareConfig, folder: Path) -> dict[str, Any]:
    """Write the folder; the report of what was kept."""
    task = TASKS[config.task]
    least = task.min_visits if config.min_visits is None else config.min_visits
    chosen, coverage = _choose(records, task, least, config)
    kept = statistics(chosen.selection) | {"splits": _splits(chosen)}
    arrays: dict[str, np.ndarray] = {
        "visit_patient": chosen.selection.visit_patient.astype(np.int32),
        "patient_split": chosen.split.astype(np.int32),
    }
    vocabularies: dict[str, Any] = {}
    for view, codes in chosen.selection.views.items():
        tokens, vocabularies[view] = _number(codes, records.views[view], chosen)
        arrays |= {f"{view}.tokens": tokens, f"{view}.offsets": codes.offsets}
        known = {"vocabulary": len(vocabularies[view]["codes"]), "named": len(vocabularies[view]["names"])}
        kept["views"][view] |= known | {"unknown": _unknown(tokens, codes, chosen)}
    kept["views"][task.target] |= coverage
    source = {"format": records.source, "patients": len(records.patients), "admissions": len(records.visit_patient)}
    report = {"source": source, "kept": kept, "left_out": chosen.selection.dropped, **records.notes.document()}
    settings = {"source": records.source, "min_visits": least, "split": list(task.split)}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "task": config.task,
        "inputs": list(task.inputs),
        "target": task.target,
        "settings": settings | ({"top_drugs": config.top_drugs} if task.top else {}),
        "seed": config.seed,
        "vocabularies": vocabularies,
        "report": report,
        "provenance": provenance(),
    }
    with new_folder(folder) as partial:
        write_atomically(partial / TENSORS, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
        write_json(partial / DOCUMENT, document)
        if config.keep_ids:
            identities = [records.patients[number] for number in chosen.selection.patients.tolist()]
            write_json(partial / IDENTITIES, {"patients": identities})
    return report


def draw_split(patients: int, shares: tuple[float, float, float], seed: int) -> Int64[np.ndarray, "P"]:
    """A part for each patient, by lot; each part has one patient at least, where there are three."""
    valid, test = (max(1, round(share * patients)) for share in shares[1:])
    order = torch.randperm(patients, generator=generator_from(batch_seed(seed, "split of patients", 0))).numpy()
    split = np.zeros(patients, dtype=np.int64)
    split[order[:valid]] = 1
    split[order[valid : valid + test]] = 2
    return split


def _choose(records: Records, task: Task, least: int, config: PrepareConfig) -> tuple[_Chosen, dict[str, float]]:
    """The visits of a task and their parts; and the share of the target's codes that is kept, where some are not."""
    selection = select(records, task, least)
    patients = len(selection.patients)
    if patients < len(SPLITS):
        needed = f"{len(SPLITS)} or more are needed, one for each split"
        raise UserError(f"{patients} patients have {least} or more visits of use for this task: {needed}")
    chosen = _Chosen(selection, draw_split(patients, task.split, config.seed))
    coverage: dict[str, float] = {}
    if task.top:
        chosen, share = _keep_top(chosen, task.target, config.top_drugs, least, len(records.views[task.target].known))
        coverage["coverage"] = round(share, 4)
    if task.as_set and not task.next_visit:
        target = chosen.selection.views[task.target]
        chosen = chosen._replace(selection=chosen.selection.with_view(task.target, target.keep(target.firsts())))
    for part, name in enumerate(SPLITS):
        if not (chosen.split == part).any():
            raise UserError(f"no patient is left for the split {name}: write another --seed, or take more records")
    return chosen, coverage


def _keep_top(chosen: _Chosen, view: str, top: int, least: int, known: int) -> tuple[_Chosen, float]:
    """Only the codes of a view that the training patients have most often, and visits that still have one."""
    selection = chosen.selection
    target = selection.views[view]
    frequent = np.zeros(known, dtype=bool)
    frequent[_by_frequency(target, chosen, known)[:top]] = True
    kept_codes = frequent[target.values]
    left = selection.with_view(view, target.keep(kept_codes))
    left = left.keep(left.views[view].lengths > 0, f"visits without one of the {top} most frequent {view} codes")
    left = keep_frequent(left, least)
    still = np.isin(selection.patients, left.patients)
    return _Chosen(left, chosen.split[still]), float(kept_codes.mean())


def _by_frequency(codes: Ragged, chosen: _Chosen, known: int) -> Int64[np.ndarray, "some"]:
    """The codes of the training patients, the most frequent first; codes are sorted, which decides between equals."""
    counts = np.bincount(codes.take(chosen.parts == 0).values, minlength=known)
    order = np.argsort(-counts, kind="stable")
    return order[: int((counts > 0).sum())]


def _number(codes: Ragged, events: Events, chosen: _Chosen) -> tuple[Int32[np.ndarray, "E"], dict[str, Any]]:
    """Tokens of a view, and its vocabulary."""
    numbers = _by_frequency(codes, chosen, len(events.known))
    token_of = np.full(len(events.known), UNKNOWN, dtype=np.int32)
    token_of[numbers] = np.arange(FIRST_CODE, FIRST_CODE + len(numbers))
    known = [events.known[number] for number in numbers.tolist()]
    names = {code: events.names[code] for code in known if code in events.names}
    return np.asarray(token_of[codes.values]), {"codes": known, "names": names}


def _splits(chosen: _Chosen) -> dict[str, dict[str, int]]:
    return {
        name: {"patients": int((chosen.split == part).sum()), "admissions": int((chosen.parts == part).sum())}
        for part, name in enumerate(SPLITS)
    }


def _unknown(tokens: Int32[np.ndarray, "E"], codes: Ragged, chosen: _Chosen) -> dict[str, int]:
    """How many codes of each part are not in the vocabulary."""
    unknown = chosen.parts[codes.owners[tokens == UNKNOWN]]
    return {name: int((unknown == part).sum()) for part, name in enumerate(SPLITS)}
