"""``mnemon export``, and the way there from a csv file."""

from pathlib import Path

import pytest
import torch

from mnemon.rnn import MANN
from mnemon.sharing.pretrained import from_pretrained
from mnemon.sharing.step import Step
from mnemon.tasks.sequences import own_sequences
from tests.command_server import run as mnemon

SMALL = ["--model", "ntm", "--hidden", "16", "--slots", "4", "--word", "4", "--log-every", "100"]


def write_sequences(folder: Path) -> None:
    """The label is the drug of the first row: what comes later does not matter."""
    rows = ["sequence,pulse,drug,label"]
    for number in range(60):
        drug = "aspirin" if number % 3 else "heparin"
        steps = 3 + number % 4
        rows += [
            f"p{number},{60 + 7 * number % 40},{drug if step == 0 else ''},{drug if step == steps - 1 else ''}"
            for step in range(steps)
        ]
    folder.mkdir()
    (folder / "train.csv").write_text("\n".join(rows) + "\n")


def test_from_a_csv_file_to_a_step_that_runs_by_itself(tmp_path: Path) -> None:
    write_sequences(tmp_path / "data")
    trained = mnemon(
        *("train", "csv", "--data", "data", "--out", "run", *SMALL, "--steps", "150", "--eval-every", "150"),
        *("--optimiser", "adam", "--learning-rate", "1e-2", "--checkpoint-every", "150"),
        folder=tmp_path,
    )
    assert trained.returncode == 0, trained.stderr
    done = mnemon("export", "run", "--data", "data", "--out", "mine", "--formats", "torch", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "wrote mine/config.json, mine/model.safetensors, mine/step.pt2, of step 150"
    model, test = from_pretrained(tmp_path / "mine"), own_sequences(tmp_path / "data").test
    assert isinstance(model, MANN)
    batch = test.sample(8, torch.Generator().manual_seed(0))
    output, _ = model(batch.inputs, lengths=batch.lengths)
    assert test.metrics(output, batch)["accuracy"] == 1.0  # it has learnt to look at the first row
    step, state = torch.export.load(tmp_path / "mine/step.pt2").module(), Step(model.cell).init_state(8)
    said, *_ = step(batch.inputs[0], *state)
    torch.testing.assert_close(said, output[0])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["export", "nowhere", "--out", "o"], "there is no run in nowhere: write a folder that mnemon train has made"),
        (
            ["export", "nowhere", "--out", "o", "--formats", "tensorflow"],
            "no format is called 'tensorflow': write one of torch, onnx",
        ),
    ],
)
def test_what_cannot_be_exported_is_told(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = mnemon(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "o").exists()
