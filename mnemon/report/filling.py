"""Tables within pages that somebody wrote: between two comments stands what the records say.

    <!-- table: results odd-even -->
    …
    <!-- end of table -->

``results NAME`` has a line for each model and a column for each setting, or the other way round where settings are
many; ``laws NAME …`` a line for each law of some experiments, beside its formula. Under either are the remarks of the
experiments. What else a page may ask for is handed in by the caller.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path

from mnemon.errors import UserError, look_up
from mnemon.report.remarks import remarks_as_markdown
from mnemon.report.results import Results, Row, read_results
from mnemon.report.tables import NONE, mean_and_sd, number, parameters, table

END = "<!-- end of table -->"
PLACE = re.compile(rf"(?P<begin><!-- table: (?P<wanted>[^>]+?) -->\n)(?P<old>.*?)(?P<end>{END})", re.DOTALL)

MOST_ACROSS = 8  # settings; of more, each has a line and each model a column

Maker = Callable[[Sequence[str]], str]


def fill(page: str, makers: Mapping[str, Maker]) -> str:
    """The page with every table made anew."""

    def filled(place: re.Match[str]) -> str:
        kind, *arguments = place["wanted"].split()
        return place["begin"] + look_up(makers, kind, "table of a page")(arguments) + place["end"]

    if page.count("<!-- table:") != len(PLACE.findall(page)):
        raise UserError(f"a table of the page has no end: write {END} on a line of its own after it")
    return PLACE.sub(filled, page)


def makers_of_results(folder: Path) -> dict[str, Maker]:
    """Tables of the experiments in a folder."""
    return {
        "results": lambda names: _by_model(_only(folder, names)),
        "laws": lambda names: _laws([read_results(folder / name) for name in names]),
    }


def _only(folder: Path, names: Sequence[str]) -> Results:
    if len(names) != 1:
        raise UserError(f"a table of results is one of one experiment: write results NAME, not {len(names)} names")
    return read_results(folder / names[0])


def _by_model(results: Results) -> str:
    """A line for each model; ours, and the thesis's after it where it has one.

    Where models stand side by side there is no room for those that the thesis quotes: they are told below.
    """
    settings = list(dict.fromkeys(row.described.setting for row in results.rows))
    models: dict[str, dict[str, Row]] = {}
    for row in results.rows:
        if row.runs or row.described.folder is None:
            models.setdefault(row.described.model, {})[row.described.setting] = row
    upright = len(settings) > MOST_ACROSS
    lines = [
        ["model", "parameters", "seeds", *settings],
        *(
            [
                model,
                *_size(found),
                *(_cell(found.get(setting), best=results.description.prints_best) for setting in settings),
            ]
            for model, found in models.items()
            if not (upright and _is_quoted(found))
        ),
    ]
    if not upright:
        return table(lines[0], lines[1:]) + remarks_as_markdown(results.remarks)
    head, *rest = (list(line) for line in zip(*lines, strict=True))
    quoted = [
        f"{model}, {setting}: {number(row.described.thesis)}"
        for model, found in models.items()
        for setting, row in found.items()
        if _is_quoted(found) and row.described.thesis is not None
    ]
    told = [f"In the thesis: {'; '.join(quoted)}."] if quoted else []
    return table(head, rest) + remarks_as_markdown([*told, *results.remarks])


def _is_quoted(rows: dict[str, Row]) -> bool:
    return all(row.described.folder is None for row in rows.values())


def _size(rows: dict[str, Row]) -> tuple[str, str]:
    """Parameters and seeds, each with the fewest and the most where settings differ."""
    runs = [row.runs for row in rows.values() if row.runs]
    sizes = dict.fromkeys(parameters(own[0]) for own in runs)
    seeds = sorted({len(own) for own in runs})
    return "; ".join(sizes) or NONE, "–".join(map(str, dict.fromkeys([seeds[0], seeds[-1]]))) if seeds else NONE


def _cell(row: Row | None, *, best: bool) -> str:
    """Ours, and the thesis's; the best run too where the thesis prints that of several."""
    if row is None:
        return NONE
    thesis = row.described.thesis
    if row.described.folder is None:
        return f"thesis: {number(thesis)}"
    if thesis is None:
        return mean_and_sd(row)
    of_best = f", best {number(row.best)}" if best and len(row.values) > 1 else ""
    return f"{mean_and_sd(row)}{of_best} (thesis: {number(thesis)})"


def _laws(experiments: list[Results]) -> str:
    """A line for each law. Columns in which nothing would differ or stand are left out."""
    lines = [
        [
            f"`{results.description.experiment}`",
            row.described.setting,
            row.described.model,
            mean_and_sd(row),
            str(len(row.values)),
            number(row.described.thesis),
        ]
        for results in experiments
        for row in results.rows
    ]
    head = ["experiment", "law", "model", "ours", "seeds", "formula or thesis"]
    several = any(len({row.described.model for row in results.rows}) > 1 for results in experiments)
    shown = [len(experiments) > 1, True, several, True, True, any(line[-1] != NONE for line in lines)]
    told = remarks_as_markdown([remark for results in experiments for remark in results.remarks])
    return table(list(compress(head, shown)), [list(compress(line, shown)) for line in lines]) + told
