"""What a traced run of a variational model leaves: mode weights, latent variables, and how far it has collapsed."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from mnemon.experiments.multi_modal import MODES, jobs
from mnemon.report.results import read_results
from mnemon.report.traces import trace_pictures
from mnemon.runner.job import Experiment
from tests.runner.tiny_campaign import experiment, run_in_this_process


def traced(model: str, folder: Path) -> tuple[dict[str, Any], Experiment]:
    (job,) = [job for job in jobs() if job.model == model]
    job = dataclasses.replace(job, training=dataclasses.replace(job.training, steps=2, eval_sequences=4))
    tiny = dataclasses.replace(experiment("tiny", job), shows="latents", metric="modes_covered")
    run_in_this_process(tiny, folder)
    (found,) = folder.rglob("traces.json")
    document: dict[str, Any] = json.loads(found.read_text())
    return document, tiny


@pytest.mark.parametrize(("model", "modes", "steps"), [("VMED (K=4)", 4, 3), ("CVAE", 1, 1)])
def test_mode_weights_and_latent_variables(model: str, modes: int, steps: int, tmp_path: Path) -> None:
    document, _ = traced(model, tmp_path / "out")
    first, mean = (array["values"] for array in document["arrays"])
    assert len(first) == len(mean) == steps  # two words and an end, or one variable for all
    assert all(len(row) == modes and sum(row) == pytest.approx(1, abs=0.011) for row in (*first, *mean))
    states = document["states"]
    assert states["phases"] == ["prior", *(f"posterior, answer {mode + 1}" for mode in range(MODES))]
    counts = [sum(point[2] == kind for point in states["points"]) for kind in range(1 + MODES)]
    assert counts == [96, *([96 // MODES] * MODES)]
    measures = document["measures"]
    assert measures["modes_in_use"] == modes
    assert 1 <= measures["modes_effective"] <= modes + 1e-6
    assert measures["kl_first"] > 0
    assert (measures["kl_later"] > 0) == (model != "CVAE")
    (picture,) = trace_pictures(read_results(tmp_path / "out"))
    assert "drawn from the prior of one context" in picture.caption
