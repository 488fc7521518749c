"""Every ``mnemon …`` that a page tells its reader to write is one: its options exist, and so do the names in it."""

import re
import shlex
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

import pytest

from mnemon.cli import AnyCommand, parse
from mnemon.commands.ehr import Ehr, Prepare
from mnemon.commands.ehr_models import Train as EhrTrain
from mnemon.commands.report import Report
from mnemon.commands.run import Run
from mnemon.commands.sweep import Sweep
from mnemon.commands.train import Train
from mnemon.ehr.tasks import TASKS as EHR_TASKS
from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.models.catalogue import MODELS
from mnemon.tasks.catalogue import DATA_TASKS, TASKS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "results/README.md"]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WORDS_THAT_STAND_FOR_OTHERS = {
    "NAME": "memorisation",
    "results/NAME": "results/memorisation",
    "N": "1",
    "ENGINE": "native",
    "…": "",
}


class Told(NamedTuple):
    """A command on a page."""

    page: str
    words: tuple[str, ...]  # after ``mnemon``
    whole: bool  # or only its name and some options, within a sentence


def commands(page: Path) -> list[Told]:
    """In blocks, and between backticks within sentences."""
    text = page.read_text()
    blocks = [body for language, body in FENCED.findall(text) if language in ("", "bash", "console")]
    prose = FENCED.sub("", text)
    lines = [line for block in blocks for line in _lines(block)] + _lines("\n".join(re.findall(r"(?m)^    .*", prose)))
    told = [Told(page.name, words, whole=True) for line in lines if (words := _words(line))]
    told += [
        Told(page.name, words, whole=_names_something(words))
        for code in re.findall(r"`([^`]+)`", prose)
        if (words := _words(" ".join(code.split())))
    ]
    return list(dict.fromkeys(told))


def _lines(block: str) -> list[str]:
    return re.sub(r"\\\n\s*", "", block).splitlines()


def _words(line: str) -> tuple[str, ...] | None:
    """What follows ``mnemon``, without comments and redirections; None where it is no such command."""
    found = re.match(r"\s*(?:\S*torchrun .*-m )?mnemon (?P<rest>[a-z].*)", line)
    if found is None:
        return None
    words = shlex.split(re.split(r"\s[<>]\s", found["rest"])[0], comments=True)
    return tuple(word for word in (WORDS_THAT_STAND_FOR_OTHERS.get(word, word) for word in words) if word)


def _names_something(words: tuple[str, ...]) -> bool:
    """Whether a command within a sentence has more than its own name, and options."""
    own = 2 if words[0] == "ehr" else 1
    return words[own : own + 1] != () and not words[own].startswith("--")


TOLD = [told for page in PAGES for told in commands(page)]
TOLD += [
    Told(file.name, words, whole=True)
    for file in sorted((ROOT / "mnemon/commands").glob("*.py"))
    for example in re.findall(r"Example: (mnemon .*)", file.read_text())
    if (words := _words(example))
]


def test_commands_are_found_in_blocks_and_in_sentences(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```\nmnemon list   # all\nmnemon run \\\n  babi\n```\n```python\nmnemon no\n```\n\n    mnemon view RUN\n\n"
        "Write `mnemon train\ncopy --model ntm`, or `mnemon run NAME < a`; `mnemon sweep --resume` goes on.\n"
    )
    assert [(" ".join(told.words), told.whole) for told in commands(page)] == [
        ("list", True),
        ("run babi", True),
        ("view RUN", True),
        ("train copy --model ntm", True),
        ("run memorisation", True),
        ("sweep --resume", False),
    ]
    assert len(TOLD) > 100


@pytest.mark.parametrize("told", [told for told in TOLD if told.whole], ids=lambda told: f"{told.page}-{told.words}")
def test_a_command_on_a_page_is_one(told: Told) -> None:
    for kind, name, catalogue in _names(parse(told.words)):
        assert name in catalogue, f"{told.page} tells of the {kind} {name!r}"


def _names(command: AnyCommand) -> list[tuple[str, str, Container[str]]]:
    """What is named in a command, and where such names are."""
    match command:
        case Train():
            return [("task", command.task, TASKS.keys() | DATA_TASKS), ("model", command.model, MODELS)]
        case Run() | Sweep():
            return [("experiment", command.experiment, EXPERIMENTS)]
        case Ehr(command=Prepare() as prepare):
            return [("task", prepare.task, EHR_TASKS)]
        case Ehr(command=EhrTrain() as train):
            return [("model", train.model, MODELS)]
        case Report() if command.folder.parent.name == "results":
            return [("experiment", command.folder.name, EXPERIMENTS)]
    return []


@pytest.mark.parametrize(
    "told", [told for told in TOLD if not told.whole], ids=lambda told: f"{told.page}-{told.words}"
)
def test_a_part_of_a_command_is_part_of_one(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    names = [word for word in told.words if not word.startswith("--")][: 2 if told.words[0] == "ehr" else 1]
    with pytest.raises(SystemExit) as ended:
        parse([*names, "--help"])
    assert ended.value.code in (0, None)
    written = capsys.readouterr().out
    for option in (word for word in told.words if word.startswith("--")):
        assert option in written, f"{told.page} tells of {option}"
