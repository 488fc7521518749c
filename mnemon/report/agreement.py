"""How far an experiment agrees with the thesis: how many rows are as good as its, and whether it ranks models alike.

A row is as good where our mean is no worse than the thesis's value by more than 3 points of a percentage, or by 3 per
cent of any other number. Two models of a setting are ranked alike where the one that is better in the thesis is better
in ours; pairs that are equal in the thesis do not count.
"""

from itertools import combinations
from typing import NamedTuple

from mnemon.report.results import Results, Row

POINTS = 3.0  # of a percentage
SHARE = 0.03  # of any other number


class Agreement(NamedTuple):
    """Counts over the rows that have a value in the thesis and a finished run."""

    rows: int
    as_good: int
    pairs: int
    alike: int

    def __str__(self) -> str:
        if not self.rows:
            return "no value of the thesis to compare with"
        ranked = f"; {self.alike} of {self.pairs} pairs of models in the thesis's order" if self.pairs else ""
        return f"{self.as_good} of {self.rows} as good as the thesis's{ranked}"

    @property
    def brief(self) -> str:
        """For a column of a table; empty where there is nothing to compare."""
        if not self.rows:
            return ""
        ranked = f", order {self.alike} of {self.pairs}" if self.pairs else ""
        return f"{self.as_good} of {self.rows}{ranked}"


def agreement(results: Results) -> Agreement:
    """Of all rows."""
    described = results.description
    compared = [row for row in results.rows if row.runs and row.mean is not None and row.described.thesis is not None]
    by_setting: dict[str, list[Row]] = {}
    for row in compared:
        by_setting.setdefault(row.described.setting, []).append(row)
    pairs = [_pair(first, second) for rows in by_setting.values() for first, second in combinations(rows, 2)]
    counted = [(thesis, ours) for thesis, ours in pairs if thesis]
    return Agreement(
        rows=len(compared),
        as_good=sum(_is_as_good(row, percent=described.factor_of(row.described) != 1) for row in compared),
        pairs=len(counted),
        alike=sum(thesis * ours > 0 for thesis, ours in counted),
    )


def _values(row: Row) -> tuple[float, float]:
    assert row.described.thesis is not None
    assert row.mean is not None
    return row.described.thesis, row.mean


def _pair(first: Row, second: Row) -> tuple[float, float]:
    """By how much the second is more than the first: in the thesis, and in ours."""
    (thesis, ours), (other_thesis, other_ours) = _values(first), _values(second)
    return other_thesis - thesis, other_ours - ours


def _is_as_good(row: Row, *, percent: bool) -> bool:
    thesis, ours = _values(row)
    allowed = POINTS if percent else SHARE * abs(thesis)
    worse_by = thesis - ours if row.better == "higher" else ours - thesis
    return worse_by <= allowed
