"""What commands that run experiments share: where the results go, and how they are told."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from mnemon.commands.console import table_console
from mnemon.report.description import RowDescription
from mnemon.report.results import Results, Row, read_results
from mnemon.report.tables import COLUMNS, cells, document
from mnemon.runner.campaign import Campaign, Failure, is_wanted


def default_folder(experiment: str, scale: float) -> Path:
    """Full runs are kept with the code; shortened ones are for looking, and stay out of their way."""
    return Path("results") / experiment if scale == 1 else Path("runs") / f"{experiment}-{scale:g}"


def tell_outcome(campaign: Campaign, failures: list[Failure], *, only: str, as_json: bool) -> None:
    """Print the table of what was wanted; exit with 1 where a job failed."""
    ran = {run.job.folder for run in campaign.runs}
    _print(read_results(campaign.folder), lambda row: _is_shown(row.described, ran, only), as_json)
    if failures:
        print(
            f"mnemon: {len(failures)} of {len(campaign.runs)} jobs failed; run the same command with --resume to"
            " try them again",
            file=sys.stderr,
        )
        sys.exit(1)


def _is_shown(row: RowDescription, ran: set[str], only: str) -> bool:
    """Whether a row is of a job that was wanted, or quoted beside one."""
    return is_wanted(only, row.setting, row.model) if row.folder is None else row.folder in ran


def _print(results: Results, wanted: Callable[[Row], bool], as_json: bool) -> None:
    if as_json:
        shown = document(results, wanted)
        print(json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False))
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    described = results.description
    table = Table(
        title=f"{described.title}: {described.metric_label}, scale {described.scale:g}",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for column in COLUMNS:
        words = column in ("setting", "model")
        table.add_column(column, justify="left" if words else "right", no_wrap=words)
    for row in results.rows:
        if wanted(row):
            table.add_row(*cells(row))
    table_console().print(table)
    for remark in results.remarks:
        table_console().print(f"{remark}\n", markup=False, highlight=False)
    print(f"kept in {results.folder}; mnemon report {results.folder}", file=sys.stderr)
