"""The canonical form of health records: patients, their admissions in time order, and the codes of each.

Letters: ``P`` patients, ``V`` visits (admissions), ``E`` events of a view.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from mnemon.data.notes import Notes
from mnemon.ehr.ragged import Ragged

VIEWS = ("diagnosis", "procedure", "drug")


@dataclass(frozen=True, kw_only=True)
class Events:
    """One view: the codes of each visit in their order."""

    codes: Ragged  # numbers in ``known``
    times: Int64[np.ndarray, "E"]  # microseconds since 1970; the admission's where the event has none
    known: list[str]  # the codes themselves, sorted
    names: dict[str, str]  # what they mean, where that is told


@dataclass(frozen=True, kw_only=True)
class Records:
    """Visits ordered by patient and then by time."""

    source: str
    patients: list[str]  # as the source calls them: for ``--keep-ids`` only
    visit_patient: Int64[np.ndarray, "V"]
    visit_start: Int64[np.ndarray, "V"]  # microseconds since 1970
    views: dict[str, Events]
    notes: Notes
