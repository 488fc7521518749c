"""``mnemon ehr``: health records, from the tables of a hospital to recommendations. Each subcommand is a class here."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from mnemon.commands.console import table_console
from mnemon.commands.ehr_models import Evaluate, Explain, Recommend, Train
from mnemon.ehr.folders import check_free
from mnemon.ehr.prepare import PrepareConfig, prepare, views_of
from mnemon.ehr.prepared import DOCUMENT
from mnemon.ehr.sources import read_source

Source = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE")]
Out = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")]


@dataclass(frozen=True, kw_only=True)
class Prepare:
    """Turn health records into the visits of a task, numbered and split by patient, with a report of what was kept.

    Tasks: procedures, drugs-daily, drugs-set, next-diagnoses. Formats: mimic3, eicu, desynpuf, meds.

    Example: mnemon ehr prepare mimic-iii prepared/procedures --task procedures
    """

    source: Source
    """Folder of the tables, csv or csv.gz, or of a MEDS data set."""
    out: Out
    """Folder to write."""
    task: str
    """What to predict: procedures, drugs-daily, drugs-set or next-diagnoses."""
    format: str | None = None
    """Format of the source; recognised from its files by default."""
    min_visits: int | None = None
    """Visits of use that a patient must have; by default 2, and 1 for drugs-set."""
    top_drugs: int = 300
    """For drugs-set: how many of the most frequent drugs are kept."""
    drug_code: str = "formulary"
    """For MIMIC-III: which column tells a drug: formulary, ndc or name."""
    seed: int = 0
    """Another seed gives another split of the patients."""
    keep_ids: bool = False
    """Also write patients.json, which tells the source's number of each patient. Keep it to yourself."""
    overwrite: bool = False
    """Replace a prepared folder that is there."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self) -> None:
        """Read, prepare and report."""
        config = PrepareConfig(
            task=self.task,
            min_visits=self.min_visits,
            top_drugs=self.top_drugs,
            seed=self.seed,
            keep_ids=self.keep_ids,
        )
        check_free(self.out, DOCUMENT, overwrite=self.overwrite)
        records = read_source(self.source, self.format, self.drug_code, views_of(self.task))
        report = prepare(records, config, self.out)
        if self.json:
            document = {"task": self.task, "folder": str(self.out), "seed": self.seed, **report}
            print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            _print_report(self.task, report)


@dataclass(frozen=True, kw_only=True)
class Export:
    """Write health records of any format as a MEDS data set, which other tools read. Patients are numbered.

    Example: mnemon ehr export mimic-iii mimic-iii-meds
    """

    source: Source
    """Folder of the tables, csv or csv.gz."""
    out: Out
    """Folder to write."""
    format: str | None = None
    """Format of the source; recognised from its files by default."""
    drug_code: str = "formulary"
    """For MIMIC-III: which column tells a drug: formulary, ndc or name."""
    overwrite: bool = False
    """Replace a MEDS data set that is there."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self) -> None:
        """Read and write."""
        records = read_source(self.source, self.format, self.drug_code)
        from mnemon.ehr.meds_export import MARK, write_meds

        check_free(self.out, MARK, overwrite=self.overwrite)
        rows = write_meds(records, self.out)
        written = {"patients": len(records.patients), "admissions": len(records.visit_patient), "events": rows}
        document = {"folder": str(self.out), "format": records.source, **written, **records.notes.document()}
        if self.json:
            print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            _print_written(document)


@dataclass(frozen=True, kw_only=True)
class Ehr:
    """Health records: prepare them for a task, train a model, and ask it for recommendations and their reasons."""

    command: (
        Annotated[Prepare, tyro.conf.subcommand("prepare")]
        | Annotated[Export, tyro.conf.subcommand("export")]
        | Annotated[Train, tyro.conf.subcommand("train")]
        | Annotated[Evaluate, tyro.conf.subcommand("evaluate")]
        | Annotated[Recommend, tyro.conf.subcommand("recommend")]
        | Annotated[Explain, tyro.conf.subcommand("explain")]
    )

    def run(self) -> None:
        """Run the subcommand."""
        self.command.run()


def statistics_rows(kept: dict[str, Any]) -> list[tuple[str, str]]:
    """What was kept, row by row as in the thesis's tables of statistics."""
    rows = [("# of patients", f"{kept['patients']:,}"), ("# of admissions", f"{kept['admissions']:,}")]
    views = kept["views"].items()
    rows += [(f"# of unique {view} codes", f"{facts['unique_codes']:,}") for view, facts in views]
    for view, facts in views:
        rows.append((f"Average # of {view} sequence length", f"{facts['mean_length']:.1f}"))
        rows.append((f"Max # of {view} sequence length", f"{facts['max_length']:,}"))
    visits = kept["visits_per_patient"]
    rows.append(("Average # of visits per patient", f"{visits['mean']:.1f}"))
    rows.append(("Max # of visits per patient", f"{visits['max']:,}"))
    for view, facts in views:
        if "coverage" in facts:
            rows.append((f"Share of {view} rows kept", f"{facts['coverage']:.1%}"))
    return rows


def _print_report(task: str, report: dict[str, Any]) -> None:
    from rich.table import Table

    kept, source = report["kept"], report["source"]
    title = f"{task}: {source['format']}, {source['patients']:,} patients with {source['admissions']:,} admissions"
    table = Table(show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    for row in statistics_rows(kept):
        table.add_row(*row)
    parts = Table(title="splits", title_justify="left")
    parts.add_column("split")
    unknown = [f"unknown {view}" for view in kept["views"]]
    for column in ("patients", "admissions", *unknown):
        parts.add_column(column, justify="right")
    for name, sizes in kept["splits"].items():
        counts = [sizes["patients"], sizes["admissions"], *(facts["unknown"][name] for facts in kept["views"].values())]
        parts.add_row(name, *(f"{count:,}" for count in counts))
    console = table_console()
    console.print(title, highlight=False)
    console.print(table)
    console.print(parts)
    for reason, count in report["left_out"].items():
        console.print(f"left out: {count:,} {reason}", highlight=False)
    _print_notes(report)


def _print_written(document: dict[str, Any]) -> None:

    counts = ", ".join(f"{document[name]:,} {name}" for name in ("patients", "admissions", "events"))
    table_console().print(f"{document['folder']}: {counts}", highlight=False)
    _print_notes(document)


def _print_notes(report: dict[str, Any]) -> None:
    """Rows that were skipped, or kept though odd, with the first places."""
    from rich.table import Table

    table = Table(title="rows of the source", title_justify="left")
    table.add_column("")
    table.add_column("rows", justify="right")
    table.add_column("why")
    table.add_column("first")
    for kind in ("skipped", "noticed"):
        for reason, note in report[kind].items():
            table.add_row(kind, f"{note['count']:,}", reason, ", ".join(note["first"]))
    if table.row_count:
        table_console().print(table)
