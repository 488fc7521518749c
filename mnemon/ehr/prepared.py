"""A prepared folder: the visits of a task as numbers, ready to learn from.

``visits.safetensors`` has, for each view, ``VIEW.tokens`` and ``VIEW.offsets`` (the codes of visit ``v`` are
``tokens[offsets[v] : offsets[v + 1]]``), ``visit_patient`` and ``patient_split``; ``ehr.json`` has the rest. Patients
are numbered, and visits ordered by patient and then by time. Nothing in the folder tells who a patient is, unless
``patients.json`` was asked for.

Letters: ``P`` patients, ``V`` visits, ``E`` codes of a view; there are ``V + 1`` bounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int, UInt8
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from mnemon.ehr.tasks import TASKS, Task
from mnemon.ehr.vocabulary import FIRST_CODE, UNKNOWN, Vocabulary
from mnemon.errors import UserError
from mnemon.training.files import read_json

FORMAT, VERSION = "mnemon-ehr", 1
DOCUMENT, TENSORS, IDENTITIES = "ehr.json", "visits.safetensors", "patients.json"
SPLITS = ("train", "valid", "test")  # 0, 1 and 2 in ``patient_split``


@dataclass(frozen=True)
class Codes:
    """The codes of one view, visit after visit."""

    tokens: Int[Tensor, "E"]  # int32
    offsets: Int[Tensor, "bounds"]  # int64

    def of(self, visit: int) -> Int[Tensor, "some"]:
        """The tokens of a visit, in their order."""
        return self.tokens[int(self.offsets[visit]) : int(self.offsets[visit + 1])]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What a prepared folder holds."""

    task_name: str
    views: Mapping[str, Codes]
    vocabularies: Mapping[str, Vocabulary]
    visit_patient: Int[Tensor, "V"]  # int64, growing
    patient_split: Int[Tensor, "P"]  # int64: 0 train, 1 valid, 2 test
    seed: int
    settings: Mapping[str, Any]
    report: Mapping[str, Any]

    @property
    def task(self) -> Task:
        """What is predicted from what."""
        return TASKS[self.task_name]

    def visits(self, split: str) -> Int[Tensor, "some"]:
        """Numbers of the visits in a split that have a target: all of them, or all but each patient's last."""
        chosen = self.patient_split[self.visit_patient] == SPLITS.index(split)
        if self.task.next_visit:
            follows = torch.zeros_like(chosen)
            follows[:-1] = self.visit_patient[1:] == self.visit_patient[:-1]
            chosen = chosen & follows
        return torch.nonzero(chosen).flatten()

    def history(self, visit: int) -> range:
        """The visits of the same patient up to this one, in time order."""
        first = int(torch.searchsorted(self.visit_patient, self.visit_patient[visit]))
        return range(first, visit + 1)

    def target(self, visit: int) -> Int[Tensor, "some"]:
        """The tokens to predict from a visit (and those before it)."""
        return self.views[self.task.target].of(visit + int(self.task.next_visit))

    @property
    def labels(self) -> int:
        """How many codes the target may have: label ``i`` is token ``FIRST_CODE + i``."""
        return len(self.vocabularies[self.task.target].codes)

    def label_rows(self, visits: Int[Tensor, "B"]) -> UInt8[Tensor, "B L"]:
        """Targets as rows of 0 and 1, a column for each code; unknown codes have none."""
        rows = torch.zeros(len(visits), self.labels, dtype=torch.uint8)
        for row, visit in enumerate(visits.tolist()):
            tokens = self.target(visit).long()
            rows[row, tokens[tokens >= FIRST_CODE] - FIRST_CODE] = 1
        return rows


def load_prepared(folder: Path) -> Prepared:
    """Load a folder that ``mnemon ehr prepare`` wrote, and check all of it."""
    document = _document(folder)
    try:
        return _prepared(document, _tensors(folder / TENSORS))
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{folder} lacks {error} in {DOCUMENT} or {TENSORS}: prepare it again") from error
    except ValueError as error:
        raise UserError(f"{folder} is damaged: {error}; prepare it again") from error


def _document(folder: Path) -> dict[str, Any]:
    path = folder / DOCUMENT
    if not path.is_file():
        raise UserError(f"there is no {DOCUMENT} in {folder}: write a folder that mnemon ehr prepare has made")
    document = read_json(path)
    if document.get("format") != FORMAT:
        raise UserError(f"{path} is not of the format {FORMAT}: write a folder that mnemon ehr prepare has made")
    if document.get("version") != VERSION:
        raise UserError(f"{path} has version {document.get('version')}, this program reads {VERSION}: prepare it again")
    if document.get("task") not in TASKS:
        raise UserError(f"{path} is for the task {document.get('task')!r}, which is not known: prepare it again")
    return document


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path} is not a whole safetensors file: prepare the folder again") from error


def _prepared(document: dict[str, Any], tensors: dict[str, Tensor]) -> Prepared:
    task = TASKS[document["task"]]
    vocabularies = {
        view: Vocabulary(tuple(known["codes"]), dict(known["names"]))
        for view, known in document["vocabularies"].items()
    }
    patient, split = _whole("visit_patient", tensors), _whole("patient_split", tensors)
    if (patient.diff() < 0).any() or not torch.equal(torch.unique_consecutive(patient), torch.arange(len(split))):
        raise ValueError("its visits are not ordered by patient, or a patient has none")
    if len(split) == 0 or split.min() < 0 or split.max() >= len(SPLITS):
        raise ValueError("a patient is in none of the splits")
    views = {
        view: _codes(view, tensors, len(patient), len(vocabularies[view]))
        for view in dict.fromkeys((*task.inputs, task.target))
    }
    return Prepared(
        task_name=document["task"],
        views=views,
        vocabularies=vocabularies,
        visit_patient=patient,
        patient_split=split,
        seed=int(document["seed"]),
        settings=dict(document["settings"]),
        report=dict(document["report"]),
    )


def _codes(view: str, tensors: dict[str, Tensor], visits: int, size: int) -> Codes:
    tokens, offsets = tensors[f"{view}.tokens"], _whole(f"{view}.offsets", tensors)
    if tokens.dtype != torch.int32 or tokens.dim() != 1:
        raise ValueError(f"{view}.tokens is not a row of int32")
    if len(offsets) != visits + 1 or offsets[0] != 0 or (offsets.diff() < 0).any() or offsets[-1] != len(tokens):
        raise ValueError(f"{view}.offsets do not fit its {len(tokens)} tokens and {visits} visits")
    if len(tokens) and (tokens.min() < UNKNOWN or tokens.max() >= size):
        raise ValueError(f"{view}.tokens are not all in a vocabulary of {size}")
    return Codes(tokens, offsets)


def _whole(name: str, tensors: dict[str, Tensor]) -> Int[Tensor, "some"]:
    """Whole numbers of any width, as int64."""
    found = tensors[name]
    if found.is_floating_point() or found.dtype == torch.bool or found.dim() != 1:
        raise ValueError(f"{name} is not a row of whole numbers")
    return found.long()
