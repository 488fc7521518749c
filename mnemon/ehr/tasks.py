"""What is predicted from what (thesis, sections 4.5.2, 4.5.4 and 4.5.5), and which visits of the records that needs.

Letters: ``P`` patients, ``V`` visits, ``E`` codes of a view.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int64

from mnemon.ehr.ragged import Ragged
from mnemon.ehr.records import Events, Records
from mnemon.errors import UserError

DAY = 24 * 60 * 60 * 1_000_000  # in microseconds
SEQUENCE_SPLIT = (0.7, 0.1, 0.2)
SET_SPLIT = (2 / 3, 1 / 6, 1 / 6)


def all_codes(events: Events) -> Ragged:
    """Every code, as the records have it."""
    return events.codes


def first_of_each_day(events: Events) -> Ragged:
    """The first code of each day on which there is one."""
    owners, days = events.codes.owners, events.times // DAY
    # Events are in time order within a visit, unless the source tells another order.
    order = np.lexsort((np.arange(len(days)), days, owners))
    first = np.ones(len(days), dtype=bool)
    same = (np.diff(owners[order]) == 0) & (np.diff(days[order]) == 0)
    first[order[1:][same]] = False
    return events.codes.keep(first)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A prediction, and how the thesis prepares it."""

    summary: str
    thesis: str
    inputs: tuple[str, ...]
    target: str
    needed: tuple[str, ...]  # a visit without codes in one of these views is left out
    split: tuple[float, float, float]
    min_visits: int
    codes: Callable[[Events], Ragged] = all_codes  # of the target
    as_set: bool = False  # the order of the target does not matter
    next_visit: bool = False  # the target is that of the patient's next visit
    top: bool = False  # only the most frequent codes of the target are kept


TASKS: dict[str, Task] = {
    "procedures": Task(
        summary="from the diagnoses of a visit, the sequence of its procedures",
        thesis="§4.5.2, procedure prediction",
        inputs=("diagnosis",),
        target="procedure",
        needed=("diagnosis", "procedure"),
        split=SEQUENCE_SPLIT,
        min_visits=2,
    ),
    "drugs-daily": Task(
        summary="from the diagnoses of a visit, the sequence of the first drug of each day",
        thesis="§4.5.2, drug prescription",
        inputs=("diagnosis",),
        target="drug",
        needed=("diagnosis", "drug"),
        split=SEQUENCE_SPLIT,
        min_visits=2,
        codes=first_of_each_day,
    ),
    "drugs-set": Task(
        summary="from the diagnoses and procedures of a visit, the set of its drugs",
        thesis="§4.5.4, drug prescription",
        inputs=("diagnosis", "procedure"),
        target="drug",
        needed=("diagnosis", "procedure", "drug"),
        split=SET_SPLIT,
        min_visits=1,
        as_set=True,
        top=True,
    ),
    "next-diagnoses": Task(
        summary="from the diagnoses and procedures of all visits so far, the set of the next visit's diagnoses",
        thesis="§4.5.5, disease progression",
        inputs=("diagnosis", "procedure"),
        target="diagnosis",
        needed=("diagnosis",),
        split=SET_SPLIT,
        min_visits=2,
        as_set=True,
        next_visit=True,
    ),
}


@dataclass(frozen=True)
class Selection:
    """Some of the visits of records, with the views that a task needs."""

    patients: Int64[np.ndarray, "P"]  # their numbers in the records
    visit_patient: Int64[np.ndarray, "V"]  # numbers in ``patients``
    views: dict[str, Ragged]
    dropped: dict[str, int]  # visits left out, by reason

    def keep(self, visits: Bool[np.ndarray, "V"], reason: str) -> "Selection":
        """Without some visits; patients without any left go too, and the others are numbered anew."""
        left, renumbered = np.unique(self.visit_patient[visits], return_inverse=True)
        count = int((~visits).sum())
        return Selection(
            patients=self.patients[left],
            visit_patient=renumbered.astype(np.int64),
            views={view: codes.take(visits) for view, codes in self.views.items()},
            dropped=self.dropped | ({reason: count} if count else {}),
        )

    def with_view(self, view: str, codes: Ragged) -> "Selection":
        """With other codes in a view."""
        return replace(self, views=self.views | {view: codes})


def select(records: Records, task: Task, min_visits: int) -> Selection:
    """The visits that a task can use, of patients that have enough of them."""
    for view in task.needed:
        if len(records.views[view].codes.values) == 0:
            raise UserError(f"this {records.source} folder has no {view} codes, which the task needs: take another")
    views = {view: records.views[view].codes for view in task.inputs}
    views[task.target] = task.codes(records.views[task.target])
    everyone = np.arange(len(records.patients))
    selection = Selection(everyone, records.visit_patient, views, {})
    for view in task.needed:
        selection = selection.keep(selection.views[view].lengths > 0, f"visits without {view} codes")
    return keep_frequent(selection, min_visits)


def keep_frequent(selection: Selection, min_visits: int) -> Selection:
    """Only patients with so many visits."""
    visits = np.bincount(selection.visit_patient, minlength=len(selection.patients))
    enough = visits[selection.visit_patient] >= min_visits
    return selection.keep(enough, f"visits of patients with fewer than {min_visits} of use")
