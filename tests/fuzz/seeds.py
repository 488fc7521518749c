"""A small good file for every reader, from which fuzzing begins."""

import gzip
import io
import json
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import polars as pl

from mnemon.laws.base import Curve, Measured, Panel
from mnemon.report.description import NAME
from mnemon.training.files import write_json
from tests.data.tiny_data import babi_story, idx_bytes, png_bytes, write_tar, write_zip
from tests.report.written import write_experiment
from tests.training.tiny_training import run_tiny, tiny_config

TALK = ["Hello there.", "How are you?", "Fine, thank you!"]


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    """What a function writes to a file."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def _parquet() -> bytes:
    buffer = io.BytesIO()
    times = [datetime(2100, 1, day) for day in (1, 2, 3)]
    codes = ["HOSPITAL_ADMISSION//E", "DIAGNOSIS//ICD9CM//401", "HOSPITAL_DISCHARGE"]
    pl.DataFrame({"subject_id": [1, 1, 1], "time": times, "code": codes}).write_parquet(buffer, compression="snappy")
    return buffer.getvalue()


def _run(file: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        run_tiny(Path(folder) / "run", tiny_config(steps=2))
        return (Path(folder) / "run" / file).read_bytes()


def _experiment() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return (write_experiment(Path(folder) / "one", {"ntm": [0.5]}) / NAME).read_bytes()


def _law() -> bytes:
    curve = Curve(name="a", x=(1.0, 2.0), measured=(0.5, 0.25), formula=(0.5, 0.3))
    panel = Panel(name="p", x_label="x", y_label="y", curves=(curve,))
    return _written("law.json", lambda path: write_json(path, Measured(panels=(panel,), metrics={"m": 1.0}).to_json()))


SEEDS: dict[str, Callable[[], bytes]] = {
    "babi": lambda: (babi_story(1) + babi_story(2)).encode(),
    "csv": lambda: b'"3","Wall St. Bears","Short-sellers, ""again""\\nseeing green."\n"1","A","B"\n',
    "csv.gz": lambda: gzip.compress(b'"3","Wall St. Bears","Short-sellers"\n', mtime=0),
    "table": lambda: b'SUBJECT_ID,ADMITTIME,SEQ_NUM\n7,2100-01-01 10:00:00,1\n"8",2100-01-02,\n',
    "idx": lambda: idx_bytes((2, 2, 2), range(8)),
    "glove": lambda: b"2 3\nthe 0.1 -0.2 3e-1\n. . 1 2 3\n",
    "png": lambda: png_bytes([[1, 0], [0, 1]]),
    "tar": lambda: _written("a.tar.gz", lambda path: write_tar(path, {"one": "1", "two": "2"})),
    "zip": lambda: _written("a.zip", lambda path: write_zip(path, {"A/character01/a.png": png_bytes([[1]])})),
    "meds": _parquet,
    "chit-chat": lambda: json.dumps({"1": {"messages": [[{"text": text, "sender": "a"}] for text in TALK]}}).encode(),
    "self-dialogue": lambda: (json.dumps({"topic": "t", "turns": TALK}) + "\n").encode(),
    "pairs": lambda: b"hello\thi there\n\tnothing before\n",
    "subtitles": lambda: b'<?xml version="1.0"?><d><s id="1"><w id="1.1">Hello</w></s><s>you &amp; me</s></d>',
    "cornell": lambda: b"L1 +++$+++ u0 +++$+++ m0 +++$+++ A +++$+++ Hi u0 +++$+++ u1 +++$+++ m0 +++$+++ ['L1', 'L1']",
    "checkpoint": lambda: _run("checkpoints/step-00000002.safetensors"),
    "records": lambda: _run("records.jsonl"),
    "experiment": _experiment,
    "law": _law,
}
