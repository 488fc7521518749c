"""``mnemon ehr train``, ``evaluate``, ``recommend`` and ``explain``: a model of health records, and what it says."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from mnemon.commands.console import table_console
from mnemon.commands.typed import typed
from mnemon.ehr.explanation import Explanation, explain, last_visit, recommend
from mnemon.ehr.page import explanation_page
from mnemon.ehr.prepared import IDENTITIES, load_prepared
from mnemon.ehr.runs import TrainedRun, load_run, sizes_of, train_on
from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.training.allocation import keep_freed_memory
from mnemon.training.config import TrainConfig
from mnemon.training.evaluation import evaluate
from mnemon.training.files import read_json, write_atomically
from mnemon.training.record import json_number

Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
Run = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
Patient = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="PATIENT")]


@dataclass(frozen=True, kw_only=True)
class Train:
    """Train a model on a prepared folder; the validation patients say when to stop.

    Sizes that are not given are the thesis's for the task.

    Example: mnemon ehr train prepared/drugs --model dmnc-early --out runs/drugs
    """

    folder: Folder
    """What mnemon ehr prepare has made."""
    model: str = "dmnc-early"
    """A model that reads views (mnemon list models): dmnc-early, dmnc-late, dcw-mann, seq2seq-attention, …"""
    out: Path | None = None
    """Folder of the run; runs/NAME-MODEL-SEED by default."""
    steps: int = 5_000
    """Batches at most."""
    batch_size: int = 64
    """Visits, or patients, in a batch."""
    learning_rate: float = 1e-3
    """Of Adam."""
    eval_every: int = 100
    """Batches between two looks at the validation patients."""
    patience: int | None = 5
    """Looks in a row without a lower loss that end the training."""
    hidden: int | None = None
    """Hidden units of each controller."""
    slots: int | None = None
    """Slots of each memory."""
    word: int | None = None
    """Numbers in a slot."""
    embedding: int | None = None
    """Numbers of an embedded code."""
    heads: int | None = None
    """Read heads."""
    views: tuple[str, ...] | None = None
    """Which views to read; by default all of the task."""
    seed: int = 0
    """Of the weights and the batches."""
    resume: bool = False
    """Go on with the run in --out."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self) -> None:
        """Train, and print how the model does on the test patients."""
        prepared = load_prepared(self.folder)
        sizes = ("hidden", "slots", "word", "embedding", "heads")
        given = {name: getattr(self, name) for name in sizes if getattr(self, name) is not None}
        config = dataclasses.replace(sizes_of(prepared, self.model), **given)
        training = TrainConfig(
            steps=self.steps,
            batch_size=self.batch_size,
            seed=self.seed,
            optimiser="adam",
            learning_rate=self.learning_rate,
            clip_value=10.0,
            eval_every=self.eval_every,
            patience=self.patience,
            checkpoint_every=self.eval_every,
        )
        keep_freed_memory()
        out = self.out or Path("runs") / f"{self.folder.name}-{self.model}-{self.seed}"
        result = train_on(self.folder, out, config, training, inputs=self.views, resume=self.resume, command=typed())
        from mnemon.training.processes import is_first_process  # after train_on, as it imports accelerate too

        if not is_first_process():
            return
        document = {"run": str(out), "steps": result.steps, "parameters": result.parameters, "metrics": result.metrics}
        _show(document, self.json, f"{self.model}, {result.parameters:,} parameters, {result.steps} batches")


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Measure a trained model on a split of its patients.

    Example: mnemon ehr evaluate runs/drugs --split test
    """

    run_folder: Run
    """What mnemon ehr train has made."""
    split: str = "test"
    """train, valid or test."""
    folder: Path | None = None
    """Where the prepared folder is now, if it was moved."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self) -> None:
        """Measure."""
        loaded = load_run(self.run_folder, self.folder)
        task = loaded.on(self.split)
        loss, metrics = evaluate(loaded.model, task, name=self.split, sequences=1, seed=0)
        document = {
            "run": str(self.run_folder),
            "step": loaded.step,
            "metrics": {self.split: {"loss": loss, **metrics}},
        }
        _show(document, self.json, f"{self.run_folder} after {loaded.step} batches")


@dataclass(frozen=True, kw_only=True)
class Recommend:
    """The likeliest codes for the last visit of a patient.

    A patient is a number of the prepared folder, from 0 on; with --show-ids it is the source's own.

    Example: mnemon ehr recommend runs/drugs 17 --top 5
    """

    run_folder: Run
    """What mnemon ehr train has made."""
    patient: Patient
    """Number of the patient."""
    top: int = 5
    """How many codes."""
    folder: Path | None = None
    """Where the prepared folder is now, if it was moved."""
    show_ids: bool = False
    """Take and show the source's numbers of patients, which need prepare --keep-ids."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self) -> None:
        """Ask the model."""
        check_sizes(top=self.top)
        loaded, number = _find(self.run_folder, self.folder, self.patient, self.show_ids)
        visit = last_visit(loaded, number)
        found = [dataclasses.asdict(entry) for entry in recommend(loaded, visit, self.top)]
        document = {
            "patient": self.patient,
            "visit": len(loaded.prepared.history(visit)),
            "target": loaded.prepared.task.target,
            "recommended": found,
        }
        if self.json:
            print(json.dumps(document, indent=2, ensure_ascii=False))
            return
        title = f"{loaded.prepared.task.target} for patient {self.patient}, visit {document['visit']}"
        _print_table(title, ["code", "name", "probability", "in the records"], _lines(found))


@dataclass(frozen=True, kw_only=True)
class Explain:
    """Why a model recommends what it does: what it wrote and read of each event, and what changes without it.

    A gate alone is no explanation: the effect of an event is how much the mean probability of what is recommended falls
    when the event is left out.

    Example: mnemon ehr explain runs/drugs 17 --html why.html
    """

    run_folder: Run
    """What mnemon ehr train has made."""
    patient: Patient
    """Number of the patient."""
    top: int = 5
    """How many codes are recommended."""
    html: Path | None = None
    """Also write a page to look at."""
    folder: Path | None = None
    """Where the prepared folder is now, if it was moved."""
    show_ids: bool = False
    """Take and show the source's numbers of patients, which need prepare --keep-ids."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self) -> None:
        """Ask the model, again and again."""
        check_sizes(top=self.top)
        if self.html is not None and not self.html.parent.is_dir():
            raise UserError(f"there is no folder {self.html.parent}: make it, or write another --html")
        loaded, number = _find(self.run_folder, self.folder, self.patient, self.show_ids)
        found = explain(loaded, self.patient, last_visit(loaded, number), self.top)
        if self.html is not None:
            write_atomically(self.html, explanation_page(found, loaded.prepared.task.target).encode())
        if self.json:
            print(json.dumps(found.document(), indent=2, ensure_ascii=False))
        else:
            _print_explanation(found, loaded.prepared.task.target)


def _find(run: Path, folder: Path | None, patient: str, show_ids: bool) -> tuple[TrainedRun, int]:
    """The run, and the number of a patient in its folder."""
    loaded = load_run(run, folder)
    if not show_ids:
        if not patient.isdecimal():
            raise UserError(f"{patient!r} is no number of a patient: write one from 0 on, or --show-ids and an id")
        return loaded, int(patient)
    described = read_json(run / "run.json")["config"]["run"]["prepared"]
    path = (Path(described) if folder is None else folder) / IDENTITIES
    if not path.exists():
        raise UserError(f"there is no {path}: prepare the folder with --keep-ids, or leave out --show-ids")
    known = [str(identity) for identity in read_json(path)["patients"]]
    if patient not in known:
        raise UserError("no patient of the prepared folder has this id")
    return loaded, known.index(patient)


def _show(document: dict[str, Any], as_json: bool, title: str) -> None:
    if as_json:
        numbers = {
            split: {name: json_number(value) for name, value in metrics.items()}
            for split, metrics in document["metrics"].items()
        }
        print(json.dumps(document | {"metrics": numbers}, indent=2, allow_nan=False))
        return
    names = list(dict.fromkeys(name for metrics in document["metrics"].values() for name in metrics))
    rows = [[name, *(f"{metrics[name]:.4g}" for metrics in document["metrics"].values())] for name in names]
    _print_table(title, ["", *document["metrics"]], rows)


def _lines(found: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [entry["code"], entry["name"], f"{entry['probability']:.3f}", "yes" if entry["true"] else ""] for entry in found
    ]


def _print_explanation(found: Explanation, target: str) -> None:
    title = f"{target} for patient {found.patient}, visit {found.visit}"
    recommended = [dataclasses.asdict(entry) for entry in found.recommended]
    _print_table(title, ["code", "name", "probability", "in the records"], _lines(recommended))
    events = sorted(found.events, key=lambda event: -abs(event.effect))
    rows = [
        [
            str(event.visit),
            event.view,
            event.code,
            event.name,
            "" if event.write_gate is None else f"{event.write_gate:.2f}",
            "" if event.read is None else f"{event.read:.2f}",
            f"{event.effect:+.3f}",
        ]
        for event in events
    ]
    _print_table("events, the largest effect first", ["visit", "view", "code", "name", "gate", "read", "effect"], rows)


def _print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 or column in ("view", "code", "name") else "right")
    for row in rows:
        table.add_row(*row)
    table_console().print(table)
