import json
import os
import pickle
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.training import checkpoint
from mnemon.training.config import TrainConfig
from mnemon.training.files import DamagedFile
from mnemon.training.optimiser import make_optimiser
from mnemon.training.record import Record
from mnemon.training.seeding import generator_from
from tests.training.tiny_training import Delay, TinyModel, run_tiny, tiny_config, tiny_model

ROW = Record(kind="train", step=2, loss=0.5, metrics={"errors": 1.0})
Pair = tuple[nn.Module, torch.optim.Optimizer]


def make_pair(optimiser: str = "rmsprop", dtype: torch.dtype = torch.float32) -> Pair:
    model = tiny_model().to(dtype)
    return model, make_optimiser(TrainConfig(optimiser=optimiser), list(model.parameters()))


def take_steps(pair: Pair, count: int) -> None:
    model, optimiser = pair
    for seed in range(count):
        batch = Delay().sample(4, generator_from(seed))
        optimiser.zero_grad()
        torch.manual_seed(seed)
        output, _ = model(batch.inputs.to(next(model.parameters()).dtype))
        output.square().sum().backward()
        optimiser.step()


def save(folder: Path, pair: Pair, step: int = 3, **changes: Any) -> Path:
    settings: dict[str, Any] = {
        "config": {"name": "tiny"},
        "loss_sum": 0.1 + 0.2,
        "loss_steps": 2,
        "records": [ROW],
        "keep": 3,
    }
    return checkpoint.save(folder, step=step, model=pair[0], optimiser=pair[1], **settings | changes)


def flat(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    state = optimiser.state_dict()["state"]
    return {f"{index}.{name}": value for index, entries in state.items() for name, value in entries.items()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("optimiser", ["rmsprop", "adam"])
def test_round_trip_is_exact(tmp_path: Path, optimiser: str, dtype: torch.dtype) -> None:
    saved, other = make_pair(optimiser, dtype), make_pair(optimiser, dtype)
    take_steps(saved, 3)
    loaded = checkpoint.load(save(tmp_path, saved))
    checkpoint.restore_model(loaded, other[0])
    checkpoint.restore_optimiser(loaded, other[1])
    assert (loaded.step, loaded.config, loaded.loss_sum, loaded.loss_steps) == (3, {"name": "tiny"}, 0.1 + 0.2, 2)
    assert loaded.records == [ROW]
    before, after = flat(saved[1]), flat(other[1])
    assert before.keys() == after.keys()
    assert {name.split(".")[1] for name in before} == (
        {"step", "square_avg", "momentum_buffer"} if optimiser == "rmsprop" else {"step", "exp_avg", "exp_avg_sq"}
    )
    for name in before:
        assert torch.equal(before[name], after[name])
        assert before[name].dtype == after[name].dtype
    assert saved[1].state_dict()["param_groups"] == other[1].state_dict()["param_groups"]
    for pair in (saved, other):
        take_steps(pair, 2)
    for one, two in zip(saved[0].parameters(), other[0].parameters(), strict=True):
        assert torch.equal(one, two)


def test_tied_weights_buffers_and_strides_survive(tmp_path: Path) -> None:
    def make() -> Pair:
        model = nn.Module()
        model.one = nn.Linear(3, 3)
        model.two = model.one
        model.register_buffer("count", torch.tensor(7))
        model.turned = nn.Parameter(torch.arange(6.0).view(2, 3).t())
        return model, make_optimiser(TrainConfig(), list(model.parameters()))

    saved, other = make(), make()
    with torch.no_grad():
        saved[0].count.add_(1)  # type: ignore[operator]
        saved[0].turned.mul_(2)  # type: ignore[operator]
    checkpoint.restore_model(checkpoint.load(save(tmp_path, saved)), other[0])
    for name, value in saved[0].state_dict().items():
        assert torch.equal(value, other[0].state_dict()[name])


def test_file_is_plain_safetensors_with_a_json_document(tmp_path: Path) -> None:
    pair = make_pair()
    take_steps(pair, 1)
    path = save(tmp_path, pair, step=1000)
    assert path.name == "step-00001000.safetensors"
    with safe_open(path, framework="pt") as file:
        document = json.loads(file.metadata()["mnemon"])
        names = set(file.keys())
    assert {"model.gru.weight_ih_l0", "optimiser.0.square_avg", "optimiser.0.step"} <= names
    assert document["format"] == "mnemon checkpoint"
    assert document["version"] == 2
    assert document["groups"][0]["lr"] == 1e-4


def test_only_the_last_are_kept_and_the_newest_is_found(tmp_path: Path) -> None:
    assert checkpoint.newest_good(tmp_path) == (None, [])
    assert checkpoint.newest_good(tmp_path / "nowhere") == (None, [])
    pair = make_pair()
    for name in ("step-notes.txt", "step-00000009.safetensors.partial"):
        (tmp_path / name).write_text("not a checkpoint")
    for step in (2, 30, 4, 100_000_000):
        save(tmp_path, pair, step=step, keep=2)
    newest, _ = checkpoint.newest_good(tmp_path)
    assert newest is not None
    assert newest.path == tmp_path / "step-100000000.safetensors"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "step-00000009.safetensors.partial",
        "step-00000030.safetensors",
        "step-100000000.safetensors",
        "step-notes.txt",
    ]


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path, make_pair())
    data = path.read_bytes()
    for length in [*range(0, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(UserError, match=r"step-00000003.safetensors is not a whole safetensors file: [^\n]+$"):
            checkpoint.load(path)
    path.write_bytes(data)
    checkpoint.load(path)


def test_flipped_bits_are_found(tmp_path: Path) -> None:
    path = save(tmp_path, make_pair())
    data = path.read_bytes()
    for place in [*range(0, len(data), 61), len(data) - 1]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(bytes(damaged))
        with pytest.raises(DamagedFile, match=r"step-00000003.safetensors (is|has) [^\n]+$"):
            checkpoint.load(path)


def test_the_newest_good_one_is_found_and_worse_ones_are_named(tmp_path: Path) -> None:
    pair = make_pair()
    for step in (1, 2, 3):
        save(tmp_path, pair, step=step)
    (tmp_path / "step-00000003.safetensors").write_bytes(b"torn")
    save_file({"weight": torch.zeros(2)}, tmp_path / "step-00000002.safetensors")
    with pytest.warns(UserWarning, match=r"step-0000000\d.safetensors is [^\n]*; looking for an older one") as told:
        found, damaged = checkpoint.newest_good(tmp_path)
    assert found is not None
    assert found.step == 1
    assert [path.name for path in damaged] == ["step-00000003.safetensors", "step-00000002.safetensors"]
    assert len(told) == 2


def test_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "ran"),)

    path = tmp_path / "step-00000001.safetensors"
    for write in (lambda: path.write_bytes(pickle.dumps(Bomb())), lambda: torch.save({"model": Bomb()}, path)):
        write()
        with pytest.raises(UserError, match="is not a whole safetensors file"):
            checkpoint.load(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        (None, "is a safetensors file but not a mnemon checkpoint"),
        ({"mnemon": "{"}, "has a damaged JSON document"),
        ({"mnemon": "[]"}, "is a safetensors file but not a mnemon checkpoint"),
        ({"mnemon": '{"format": "mnemon checkpoint", "version": 1}'}, "has checkpoint version 1; .* reads version 2"),
        (
            {"mnemon": '{"format": "mnemon checkpoint", "version": 2}'},
            "has a damaged JSON document: 'step' should be of type int",
        ),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, metadata: dict[str, str] | None, problem: str) -> None:
    path = tmp_path / "foreign.safetensors"
    save_file({"weight": torch.zeros(2)}, path, metadata)
    with pytest.raises(UserError, match=rf"foreign.safetensors {problem}"):
        checkpoint.load(path)


def test_unreadable_paths_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UserError, match=r"cannot read checkpoint [^\n]+$"):
            checkpoint.load(path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda model: setattr(model, "extra", nn.Linear(1, 1)), "has no tensor 'extra.(weight|bias)' of this model"),
        (lambda model: delattr(model, "head"), "has a tensor 'head.(weight|bias)' that this model has not"),
        (
            lambda model: setattr(model, "head", nn.Linear(5, 3)),
            r"has 'head.weight' of shape \(2, 5\) where \(3, 5\) is needed",
        ),
        (lambda model: model.double(), "has '.*' of type torch.float32 where torch.float64 is needed"),
    ],
)
def test_another_model_is_refused_and_left_as_it_was(tmp_path: Path, change: Any, problem: str) -> None:
    pair = make_pair()
    take_steps(pair, 1)
    loaded = checkpoint.load(save(tmp_path, pair))
    other = TinyModel()
    change(other)
    before = {name: value.clone() for name, value in other.state_dict().items()}
    with pytest.raises(UserError, match=rf"step-00000003.safetensors {problem}"):
        checkpoint.restore_model(loaded, other)
    assert all(torch.equal(before[name], value) for name, value in other.state_dict().items())


def test_another_optimiser_is_refused(tmp_path: Path) -> None:
    pair = make_pair("rmsprop")
    take_steps(pair, 1)
    loaded = checkpoint.load(save(tmp_path, pair))
    with pytest.raises(UserError, match="was written by another optimiser than Adam"):
        checkpoint.restore_optimiser(loaded, make_pair("adam")[1])
    fewer = make_optimiser(TrainConfig(), list(tiny_model().head.parameters()))
    with pytest.raises(UserError, match="was written by another optimiser than RMSProp"):
        checkpoint.restore_optimiser(loaded, fewer)
    wider = list(nn.GRU(3, 5).parameters()) + list(nn.Linear(5, 2).parameters())
    with pytest.raises(UserError, match=r"'optimiser.0.\w+' of shape \(15, 2\) where \(15, 3\) is needed"):
        checkpoint.restore_optimiser(loaded, make_optimiser(TrainConfig(), wider))


@pytest.mark.parametrize("place", [(os, "fsync"), (Path, "replace")])
def test_failing_write_leaves_the_older_file(tmp_path: Path, place: tuple[Any, str]) -> None:
    pair = make_pair()
    before = save(tmp_path, pair, step=3).read_bytes()
    take_steps(pair, 1)
    with (
        mock.patch.object(*place, side_effect=OSError(28, "No space left on device")),
        pytest.raises(UserError, match=r"cannot write .*step-00000003.safetensors: No space left on device$"),
    ):
        save(tmp_path, pair, step=3)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000003.safetensors"]
    assert (tmp_path / "step-00000003.safetensors").read_bytes() == before
    assert save(tmp_path, pair, step=3).read_bytes() != before


def test_failing_write_deletes_no_older_checkpoint(tmp_path: Path) -> None:
    pair = make_pair()
    save(tmp_path, pair, step=3, keep=1)
    with mock.patch.object(Path, "replace", side_effect=OSError(28, "full")), pytest.raises(UserError):
        save(tmp_path, pair, step=4, keep=1)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000003.safetensors"]


def test_run_keeps_as_many_as_it_is_told(tmp_path: Path) -> None:
    run_tiny(tmp_path, tiny_config(keep=3))
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == [f"step-{step:08d}.safetensors" for step in (6, 8, 10)]
