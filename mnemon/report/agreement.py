"""How far an experiment agrees with the thesis: how many rows are as good as its, and whether it ranks models alike.

A row is as good where our mean, or our best run where the thesis prints its best, is no worse than the thesis's value
by more than 3 points of a percentage, or by 3 per cent of any other number. Two models of a setting are ranked alike
where the one that is better in the thesis is better in ours; pairs that are equal in the thesis do not count.
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
    of_best: bool  # runs, rather than of means

    def __str__(self) -> str:
        if not self.rows:
            return "no value of the thesis to compare with"
        ranked = f"; {self.alike} of {self.pairs} pairs of models in the thesis's order" if self.pairs else ""
        by_best = ", by the best run of each" if self.of_best else ""
        return f"{self.as_good} of {self.rows} as good as the thesis's{ranked}{by_best}"

    @property
    def brief(self) -> str:
        """For a column of a table; empty where there is nothing to compare."""
        if not self.rows:
            return ""
        ranked = f", order {self.alike} of {self.pairs}" if self.pairs else ""
        return f"{self.as_good} of {self.rows}{ranked}"


class _Compared(NamedTuple):
    thesis: float
    ours: float
    row: Row


def agreement(results: Results) -> Agreement:
    """Of all rows."""
    described = results.description
    by_setting: dict[str, list[_Compared]] = {}
    for row in results.rows:
        ours = row.best if described.prints_best else row.mean
        if row.runs and ours is not None and row.described.thesis is not None:
            by_setting.setdefault(row.described.setting, []).append(_Compared(row.described.thesis, ours, row))
    compared = [one for found in by_setting.values() for one in found]
    pairs = [
        (second.thesis - first.thesis, second.ours - first.ours)
        for found in by_setting.values()
        for first, second in combinations(found, 2)
        if second.thesis != first.thesis
    ]
    return Agreement(
        rows=len(compared),
        as_good=sum(_is_as_good(one, percent=described.factor_of(one.row.described) != 1) for one in compared),
        pairs=len(pairs),
        alike=sum(thesis * ours > 0 for thesis, ours in pairs),
        of_best=described.prints_best,
    )


def _is_as_good(compared: _Compared, *, percent: bool) -> bool:
    thesis, ours, row = compared
    allowed = POINTS if percent else SHARE * abs(thesis)
    worse_by = thesis - ours if row.better == "higher" else ours - thesis
    return worse_by <= allowed
