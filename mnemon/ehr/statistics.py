"""What was kept, as the thesis's tables of statistics tell it (tables 4.1 and 4.4)."""

from typing import Any

import numpy as np

from mnemon.ehr.ragged import Ragged
from mnemon.ehr.tasks import Selection


def statistics(selection: Selection) -> dict[str, Any]:
    """Numbers of patients, visits and codes, and how long the visits are."""
    visits = np.bincount(selection.visit_patient, minlength=len(selection.patients))
    return {
        "patients": len(selection.patients),
        "admissions": len(selection.visit_patient),
        "visits_per_patient": {"mean": round(float(visits.mean()), 4), "max": int(visits.max())},
        "views": {view: _view(codes) for view, codes in selection.views.items()},
    }


def _view(codes: Ragged) -> dict[str, Any]:
    lengths = codes.lengths
    return {
        "unique_codes": len(np.unique(codes.values)),
        "codes": len(codes.values),
        "mean_length": round(float(lengths.mean()), 4),
        "max_length": int(lengths.max()),
        "empty_visits": int((lengths == 0).sum()),
    }
