"""Ours beside the thesis's: an experiment as a JSON document, as cells of a table, and as Markdown."""

import math
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from mnemon.report.agreement import agreement
from mnemon.report.results import Results, Row, Run

COLUMNS = ("setting", "model", "ours", "n", "best", "thesis", "parameters", "thesis's", "time")
NONE = "–"
SMALL = 0.1  # below this, two digits after the point would say little
TINY = 1e-4  # and below this, zeros would fill the table


def document(results: Results, wanted: Callable[[Row], bool] = lambda _: True) -> dict[str, Any]:
    """What ``mnemon run --json`` prints: the contract's fields first, then what more is known."""
    described = results.description
    return {
        "experiment": described.experiment,
        "rows": [
            {
                "setting": row.described.setting,
                "model": row.described.model,
                "metric": described.label_of(row.described),
                "mean": row.mean,
                "sd": row.sd,
                "n": len(row.values),
                "thesis": row.described.thesis,
                "parameters": row.runs[0].effective if row.runs else None,
                "scale": described.scale,
                "best": row.best,
                "total_parameters": row.runs[0].total if row.runs else None,
                "thesis_parameters": row.described.thesis_parameters,
                "seconds": row.seconds,
            }
            for row in results.rows
            if wanted(row)
        ],
        "provenance": {
            "thesis": described.thesis,
            "aggregate": described.aggregate,
            "command": results.command,
            "seeds": results.seeds,
            "machines": results.machines,
            "revisions": results.revisions,
            "taken_over": results.taken_over,
        },
    }


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table as text, in the order of :data:`COLUMNS`."""
    described = row.described
    return (
        described.setting,
        described.model,
        mean_and_sd(row),
        str(len(row.values)) if described.folder is not None else NONE,
        number(row.best),
        number(described.thesis),
        parameters(row.runs[0]) if row.runs else NONE,
        NONE if described.thesis_parameters is None else f"{described.thesis_parameters:,}",
        duration(row.seconds),
    )


def markdown(results: Results) -> str:
    """The experiment as a section of a Markdown page."""
    described = results.description
    lines = [f"## {as_text(described.title)}", "", *(f"- {as_text(fact)}" for fact in facts(results)), ""]
    return "\n".join(lines) + "\n" + table(COLUMNS, [cells(row) for row in results.rows])


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    return "".join(f"{table_line(entries)}\n" for entries in (head, ["---"] * len(head), *lines))


def facts(results: Results) -> list[str]:
    """What a number needs beside it: metric, source, scale, seeds, command, machine."""
    described = results.description
    seeds = ", ".join(map(str, results.seeds)) or "none finished yet"
    over = "ours is the mean ± s.d. over seeds"
    stated = [
        over if described.shows == "law" else f"{described.metric_label}, {described.better} is better; {over}",
        f"thesis: {described.thesis}, {described.aggregate}",
        str(agreement(results)),
        f"scale {described.scale:g} of the full number of steps; seeds {seeds}",
        f"command: `{shlex.join(results.command)}`",
    ]
    for experiment, count in results.taken_over.items():
        were = "of the runs was" if count == 1 else "of the runs were"
        stated.append(f"{count} {were} trained for {experiment}, from the same settings")
    for machine in results.machines:
        versions = ", ".join(f"{name} {machine.get(name)}" for name in ("mnemon", "torch", "python"))
        stated.append(f"ran with {versions} on {machine.get('cpu')}, {machine.get('cores')} cores")
    if results.revisions:
        stated.append(f"revisions of mnemon: {', '.join(results.revisions)}")
    return stated


def mean_and_sd(row: Row) -> str:
    """``97.70 ± 0.40``, both with the digits that the mean needs: three of them where it is less than 1."""
    if row.mean is None or row.sd is None:
        return number(row.mean)
    size = abs(float(f"{row.mean:.3g}"))
    if size == 0 or size >= 1:
        digits = 2
    elif size >= TINY:
        digits = 2 - math.floor(math.log10(size))
    else:
        return f"{row.mean:.3g} ± {row.sd:.2g}"
    return f"{row.mean:.{digits}f} ± {row.sd:.{digits}f}"


def parameters(run: Run) -> str:
    """The effective ones, and of how many where that is not all."""
    return f"{run.effective:,}" if run.effective == run.total else f"{run.effective:,} of {run.total:,}"


def number(value: float | None) -> str:
    """Two digits after the point, or four significant ones where that would say nothing."""
    if value is None:
        return NONE
    return f"{value:.2f}" if abs(value) >= SMALL or value == 0 else f"{value:.4g}"


def duration(seconds: float | None) -> str:
    """Hours, minutes and seconds."""
    if seconds is None:
        return NONE
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def table_line(entries: Sequence[str]) -> str:
    """A line of a Markdown table, whatever stands in its cells."""
    return "| " + " | ".join(as_text(entry).replace("|", "\\|") for entry in entries) + " |"


def as_text(words: str) -> str:
    """Words that Markdown may show but not take for HTML."""
    return words.replace("<", "&lt;")
