"""The command line as a user meets it: in its own process."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_server import ENVIRONMENT
from tests.command_server import run as mnemon

SMALL = ["--model", "ntm", "--hidden", "8", "--slots", "6", "--word", "4", "--batch-size", "2", "--log-every", "2"]
COMMANDS = "demo, list, train, run, sweep, report, view, profile, chat, export, bench, ehr"
QUICK = [*SMALL, "--steps", "12", "--eval-every", "6", "--eval-sequences", "3", "--checkpoint-every", "4"]


def records(run: Path) -> bytes:
    return (run / "records.jsonl").read_bytes()


@pytest.mark.parametrize("kind", ["models", "tasks", "experiments"])
def test_list_as_json(kind: str, tmp_path: Path) -> None:
    done = mnemon("list", kind, "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    assert list(document) == [kind]
    assert all(list(row) == ["name", "summary", "thesis", "file"] for row in document[kind])
    assert done.stderr == ""


def test_list_as_tables(tmp_path: Path) -> None:
    done = mnemon("list", folder=tmp_path)
    assert "mnemon/memory/dnc.py" in done.stdout
    assert "priority-sort" in done.stdout
    assert "permuted-mnist" in done.stdout
    assert "memorisation" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], f"Expected one of {{{COMMANDS}}}"),
        (
            ["tran"],
            f"Available subcommands: {COMMANDS}",
        ),
        (["train"], "Missing from mnemon train"),
        (["train", "cop"], "no task is called 'cop': did you mean 'copy'?"),
        (["train", "copy", "--model", "ntn"], "no model is called 'ntn': did you mean 'ntm'?"),
        (["train", "copy", "--controller", "cnn"], "no controller is called 'cnn'"),
        (["train", "copy", "--step", "3"], "Unrecognized options: --step, 3; Perhaps you meant: --steps"),
        (["train", "copy", "--steps", "many"], "Error parsing --steps"),
        (["train", "copy", "--steps", "0"], "training setting 'steps' is 0: write a whole number of at least 1"),
        (["train", "copy", "--slots", "0"], "slots must be at least 1, got 0"),
        (
            ["train", "copy", "--model", "lrua", "--heads", "9", "--slots", "4"],
            "reads must be at most slots (4), got 9",
        ),
        (["train", "copy", "--model", "lstm", "--engine", "native"], "has no engines: leave out --engine"),
        (["train", "copy", "--model", "lstm", "--replay", "5"], "is no cell over a sequence: leave out --replay"),
        (["train", "copy", "--replay", "0"], "replay must be at least 1, got 0"),
        (["train", "mnist"], "task 'mnist' needs its data: write --data and the folder that holds them"),
        (["train", "mnist", "--data", "nowhere"], "there is no folder nowhere: give --data the one that holds"),
        (["train", "copy", "--writing", "sometimes"], "no writing is called 'sometimes'"),
        (["train", "copy", "--writing", "cached"], "cached writing needs an interval: write interval=5"),
        (["train", "copy", "--patience", "0"], "training setting 'patience' is 0"),
        (["train", "copy", "--threads", "0"], "threads must be at least 1, got 0"),
        (["train", "copy", "--resume"], "there is no run to resume in runs/copy-ntm-0"),
        (["list", "everything"], "everything"),
        (["run", "memorization"], "no experiment is called 'memorization': did you mean 'memorisation'?"),
        (["run", "memorisation", "--resume"], "there is nothing to resume in results/memorisation"),
        (
            ["run", "memorisation", "--resume", "--scale", "0.01"],
            "there is nothing to resume in runs/memorisation-0.01",
        ),
        (["report", "results"], "there is no folder results: give one that mnemon run has written"),
        (["profile"], "Missing from mnemon profile"),
        (["profile", "nowhere"], "there is no run in nowhere: write a folder that mnemon train has made"),
        (["view", "nowhere"], "there is no run in nowhere: write a folder that mnemon train has made"),
        (["view", "one", "two", "three"], "a page shows one run or two, not 3: write one folder or two"),
        (["chat", "nowhere"], "there is no run in nowhere: write a folder that mnemon train has made"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = mnemon(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("mnemon: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_version_says_what_is_installed(tmp_path: Path) -> None:
    done = mnemon("--version", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"mnemon \S+( \(revision \w{12}\))?, kernels built, torch 2\S+, Python 3\S+\n", done.stdout)


@pytest.mark.parametrize("arguments", [["--help"], ["list"]])
def test_output_that_nobody_reads(arguments: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mnemon", *arguments]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_as_a_module_it_is_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mnemon", "train", "cop"]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    forked = mnemon("train", "cop", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (forked.returncode, forked.stdout, forked.stderr)


def test_foreign_and_torn_checkpoints_are_named_and_older_ones_used(tmp_path: Path) -> None:
    assert mnemon("train", "copy", *QUICK, folder=tmp_path).returncode == 0
    newest = tmp_path / "runs/copy-ntm-0/checkpoints/step-00000012.safetensors"
    whole = newest.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"not a checkpoint at all", b""):
        newest.write_bytes(damaged)
        done = mnemon("train", "copy", *QUICK, "--resume", folder=tmp_path)
        assert done.returncode == 0
        first = done.stderr.splitlines()[0]
        assert first.startswith("mnemon: ")
        assert "step-00000012.safetensors is not a whole safetensors file" in first
        assert first.endswith("; looking for an older one")
        assert newest.read_bytes() == whole


def test_train_prints_a_table_and_repeats_itself(tmp_path: Path) -> None:
    done = mnemon("train", "copy", *QUICK, "--out", "one", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "length 120" in done.stdout
    assert "kept in one" in done.stderr
    assert mnemon("train", "copy", *QUICK, "--out", "two", folder=tmp_path).returncode == 0
    assert records(tmp_path / "one") == records(tmp_path / "two")
    other_seed = mnemon("train", "copy", *QUICK, "--out", "three", "--seed", "1", folder=tmp_path)
    assert other_seed.returncode == 0
    assert records(tmp_path / "one") != records(tmp_path / "three")
    again = mnemon("train", "copy", *QUICK, "--out", "one", folder=tmp_path)
    assert again.returncode == 2
    assert "one is not empty" in again.stderr
    summary = json.loads((tmp_path / "one/summary.json").read_text())
    assert summary["command"][:3] == ["mnemon", "train", "copy"]
    assert summary["config"]["run"]["model"]["slots"] == 6


def test_train_on_any_task_with_any_writing(tmp_path: Path) -> None:
    options = [*QUICK, "--model", "dnc", "--writing", "uniform", "--interval", "5", "--patience", "3"]
    done = mnemon("train", "token-copy", *options, "--out", "one", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    config = json.loads((tmp_path / "one/summary.json").read_text())["config"]
    assert (config["run"]["model"]["writing"], config["run"]["model"]["interval"]) == ("uniform", 5)
    assert config["training"]["patience"] == 3


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_and_resumed_is_as_if_never_stopped(how: signal.Signals, tmp_path: Path) -> None:
    options = [
        "copy",
        *SMALL,
        "--steps",
        "250",
        "--eval-every",
        "125",
        "--eval-sequences",
        "2",
        "--checkpoint-every",
        "7",
    ]
    assert mnemon("train", *options, "--out", "whole", folder=tmp_path).returncode == 0
    command = [sys.executable, "-m", "mnemon", "train", *options, "--out", "stopped"]
    run = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    while not list((tmp_path / "stopped/checkpoints").glob("step-*.safetensors")) and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(how)
    _, said = run.communicate()
    if how == signal.SIGINT:
        assert run.returncode == 130
        assert "run the same command with --resume to go on" in said
    assert len(records(tmp_path / "stopped")) < len(records(tmp_path / "whole"))
    assert mnemon("train", *options, "--out", "stopped", "--resume", folder=tmp_path).returncode == 0
    assert records(tmp_path / "stopped") == records(tmp_path / "whole")
    final = "checkpoints/step-00000250.safetensors"
    assert (tmp_path / "stopped" / final).read_bytes() == (tmp_path / "whole" / final).read_bytes()


@pytest.mark.parametrize("command", ["demo", "list", "train", "run", "report", "view", "profile", "bench", "ehr"])
def test_help_teaches(command: str, tmp_path: Path) -> None:
    done = mnemon(command, "--help", folder=tmp_path)
    assert done.returncode == 0
    assert "--" in done.stdout
    assert len(done.stdout) > 200


def test_both_engines_train_alike(tmp_path: Path) -> None:
    losses = []
    for engine in ("native", "reference"):
        mnemon("train", "copy", *QUICK, "--engine", engine, "--out", engine, folder=tmp_path)
        losses.append([json.loads(line)["loss"] for line in records(tmp_path / engine).decode().splitlines()])
    assert len(losses[0]) > 6
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
