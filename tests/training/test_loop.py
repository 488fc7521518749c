import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.training import checkpoint
from mnemon.training.health import TrainingStopped
from mnemon.training.optimiser import clip, gradient_norm
from mnemon.training.progress import SilentProgress
from mnemon.training.record import read_records
from mnemon.training.seeding import batch_seed, generator_from, seed_noise
from tests.training.tiny_training import Delay, TinyModel, run_tiny, tiny_config, tiny_model, weights_and_records


class Losses(SilentProgress):
    """Keeps the loss of every step."""

    def __init__(self) -> None:
        self.all: list[float] = []

    def step(self, step: int, loss: float) -> None:  # noqa: ARG002
        self.all.append(loss)


@dataclass(frozen=True)
class Spoilt(Delay):
    """One number of one training batch is not what it should be."""

    step: int = 5
    value: float = float("nan")
    place: str = "inputs"

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        batch = super().sample(batch_size, generator)
        if generator.initial_seed() == batch_seed(0, "train", self.step):
            getattr(batch, self.place)[1, 0, 0] = self.value
        return batch

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        spoilt = (batch.inputs == 7).any() and self.place == "inputs"
        return super().loss(output, batch) * (float("inf") if spoilt else 1.0)


def naive_training(
    steps: int, clip_value: float | None = None, clip_each: float | None = None, clip_norm: float | None = None
) -> list[TinyModel]:
    """The model before each step and after the last, from the shortest loop that could be written."""
    model = tiny_model().train()
    optimiser = torch.optim.RMSprop(model.parameters(), lr=1e-2, alpha=0.95, momentum=0.9, foreach=True)
    history = []
    for step in range(1, steps + 1):
        history.append(tiny_model())
        history[-1].load_state_dict(model.state_dict())
        batch = Delay().sample(4, generator_from(batch_seed(0, "train", step)))
        seed_noise(0, "train 0", step)
        parameters = list(model.parameters())
        gradients = list(torch.autograd.grad(Delay().loss(model(batch.inputs)[0], batch), parameters))
        if clip_value is not None:
            gradients = [gradient.clamp(-clip_value, clip_value) for gradient in gradients]
        if clip_each is not None:
            gradients = [gradient * min(1.0, clip_each / (float(gradient.norm()) + 1e-6)) for gradient in gradients]
        if clip_norm is not None:
            length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
            gradients = [gradient * min(1.0, float(clip_norm / (length + 1e-6))) for gradient in gradients]
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        optimiser.step()
    return [*history, model]


@pytest.mark.parametrize(
    ("clip_value", "clip_each", "clip_norm"),
    [
        (None, None, None),
        (0.01, None, None),
        (None, 0.03, None),
        (None, None, 0.05),
        (0.01, None, 0.02),
        (0.01, 0.02, 0.025),
    ],
)
def test_training_is_the_naive_loop_and_clips(
    tmp_path: Path, clip_value: float | None, clip_each: float | None, clip_norm: float | None
) -> None:
    model = tiny_model()
    config = tiny_config(clip_value=clip_value, clip_each=clip_each, clip_norm=clip_norm)
    run_tiny(tmp_path, config, model=model)
    expected = naive_training(10, clip_value, clip_each, clip_norm)[-1].state_dict()
    unclipped = naive_training(10)[-1].state_dict()
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, expected[name], rtol=1e-5, atol=1e-6)
    if clip_value or clip_each or clip_norm:
        assert not torch.allclose(unclipped["head.weight"], expected["head.weight"], rtol=1e-3)


def test_rows_fall_where_they_should(tmp_path: Path) -> None:
    run_tiny(tmp_path)
    rows = [(record.kind, record.step, record.test) for record in read_records(tmp_path / "records.jsonl")]
    train: list[tuple[str, int, str | None]] = [("train", step, None) for step in (3, 6, 9, 10)]
    tests: list[tuple[str, int, str | None]] = [
        ("eval", step, test) for step, test in itertools.product((4, 8, 10), ("same", "longer"))
    ]
    assert sorted(rows, key=str) == sorted(train + tests, key=str)
    assert [step for _, step, _ in rows] == sorted(step for _, step, _ in rows)


def test_train_rows_hold_the_mean_loss_since_the_row_before(tmp_path: Path) -> None:
    losses = Losses()
    result = run_tiny(tmp_path, progress=losses)
    rows = {record.step: record.loss for record in read_records(tmp_path / "records.jsonl") if record.kind == "train"}
    assert len(losses.all) == 10
    assert rows == pytest.approx(
        {3: sum(losses.all[:3]) / 3, 6: sum(losses.all[3:6]) / 3, 9: sum(losses.all[6:9]) / 3, 10: losses.all[9]}
    )
    assert result.loss == rows[10]


def test_train_rows_hold_the_metrics_of_their_batch(tmp_path: Path) -> None:
    run_tiny(tmp_path, tests={})
    model = naive_training(3)[2].train()
    batch = Delay().sample(4, generator_from(batch_seed(0, "train", 3)))
    seed_noise(0, "train 0", 3)
    expected = Delay().metrics(model(batch.inputs)[0], batch)
    assert read_records(tmp_path / "records.jsonl")[0].metrics == expected


def test_evaluation_does_not_disturb_training(tmp_path: Path) -> None:
    with_tests, without = Losses(), Losses()
    run_tiny(tmp_path / "with", tiny_config(eval_every=1), progress=with_tests)
    run_tiny(tmp_path / "without", tests={}, progress=without)
    assert with_tests.all == without.all


def test_model_left_in_evaluation_mode_trains_all_the_same(tmp_path: Path) -> None:
    fresh, left = Losses(), Losses()
    run_tiny(tmp_path / "fresh", progress=fresh)
    run_tiny(tmp_path / "left", model=tiny_model().eval(), progress=left)
    assert left.all == fresh.all


def test_training_learns(tmp_path: Path) -> None:
    config = tiny_config(steps=400, eval_every=400, log_every=400, checkpoint_every=400, eval_sequences=50)
    result = run_tiny(tmp_path, config, model=tiny_model(dropout=0.0))
    assert result.metrics["same"]["bit_errors"] < 0.2
    assert result.metrics["same"]["solved"] > 0.9


def test_result_and_summary_tell_the_same(tmp_path: Path) -> None:
    model = tiny_model()
    model.head.bias.requires_grad_(False)
    result = run_tiny(tmp_path, model=model, run={"model": "tiny"})
    summary = json.loads((tmp_path / "summary.json").read_text())
    last = {record.test: record for record in read_records(tmp_path / "records.jsonl") if record.step == 10}
    assert result.metrics == {test: last[test].metrics for test in ("same", "longer")} == summary["metrics"]
    assert result.loss == last[None].loss == summary["loss"]
    assert result.parameters == 3 * 5 * (2 + 5 + 2) + 2 * 5 == summary["parameters"]
    assert result.steps == 10 == summary["steps"]
    newest, _ = checkpoint.newest_good(tmp_path / "checkpoints")
    assert newest is not None
    assert newest.path == result.checkpoint
    assert summary["config"] == {
        "training": tiny_config().to_json(),
        "tests": ["same", "longer"],
        "run": {"model": "tiny"},
    }
    assert summary["seed"] == 0
    assert summary["command"] == ["mnemon", "train", "delay"]
    assert summary["steps_per_second"] == pytest.approx(10 / summary["seconds"], rel=0.05)
    assert summary["provenance"]["torch"] == torch.__version__
    assert summary["provenance"]["threads"] == torch.get_num_threads()
    assert summary["provenance"]["cpu"]


@pytest.mark.parametrize(
    ("task", "tensor"),
    [
        (Spoilt(), "the batch's inputs"),
        (Spoilt(place="targets"), "the batch's targets"),
        (Spoilt(value=7.0), "the loss"),
    ],
)
def test_number_that_is_not_finite_stops_the_run(tmp_path: Path, task: Spoilt, tensor: str) -> None:
    seed = batch_seed(0, "train", 5)
    with pytest.raises(TrainingStopped, match=rf"step 5 \(batch seed {seed}\): {tensor} is not finite") as caught:
        run_tiny(tmp_path, task=task)
    assert str(tmp_path / "checkpoints/step-00000004.safetensors") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, UserError)
    assert (caught.value.step, caught.value.seed, caught.value.tensor) == (5, seed, tensor)


def test_stopped_run_keeps_its_last_good_checkpoint_and_resumes_from_it(tmp_path: Path) -> None:
    run_tiny(tmp_path / "whole")
    with pytest.raises(TrainingStopped):
        run_tiny(tmp_path / "stopped", tiny_config(checkpoint_every=3, keep=1), task=Spoilt())
    saved = checkpoint.load(tmp_path / "stopped/checkpoints/step-00000003.safetensors")
    assert all(torch.isfinite(tensor).all() for tensor in saved.tensors.values())
    assert [record.step for record in read_records(tmp_path / "stopped/records.jsonl")] == [3, 4, 4]
    run_tiny(tmp_path / "stopped", tiny_config(checkpoint_every=3, keep=1), resume=True)  # the sensor was mended
    assert weights_and_records(tmp_path / "stopped")[1] == weights_and_records(tmp_path / "whole")[1]


def test_stop_before_any_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(TrainingStopped, match="no checkpoint was written yet"):
        run_tiny(tmp_path, task=Spoilt(step=1))


class SpoiltGradient(TinyModel):
    """The head's gradient is not finite in one step; its output and loss are."""

    def forward(self, inputs: Tensor, *, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        self.calls = getattr(self, "calls", 0) + 1
        output, state = super().forward(inputs, lengths=lengths)
        if self.calls == 2:
            self.head.weight.register_hook(lambda gradient: gradient / 0)  # type: ignore[no-untyped-call]
        return output, state


def test_gradient_that_is_not_finite_is_named_before_the_optimiser_sees_it(tmp_path: Path) -> None:
    model = SpoiltGradient()
    with pytest.raises(TrainingStopped, match=r"step 2 .*: the gradient of 'head.weight' is not finite"):
        run_tiny(tmp_path, tiny_config(clip_value=1.0), model=model)
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


def test_huge_finite_gradients_are_named_by_their_norm(tmp_path: Path) -> None:
    model = tiny_model()
    model.head.weight.register_hook(lambda gradient: gradient.sign() * 1e30)  # type: ignore[no-untyped-call]
    with pytest.raises(TrainingStopped, match="the norm of the gradients is not finite"):
        run_tiny(tmp_path, tiny_config(clip_value=None), model=model)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"clip_value": 2.0}, [2.0, -2.0]),
        ({"clip_each": 2.0}, [1.2, -1.6]),
        ({"clip_norm": 2.0}, [1.2, -1.6]),
        ({"clip_value": 1e25, "clip_norm": 2.0}, [2**0.5, -(2**0.5)]),
    ],
)
def test_huge_finite_gradients_are_clipped_like_others(settings: dict[str, float], expected: list[float]) -> None:
    config = tiny_config(**{"clip_value": None, **settings})
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([3e30, -4e30])
    clip(config, [parameter], gradient_norm(config, [parameter]))
    torch.testing.assert_close(parameter.grad, torch.tensor(expected))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [3.0, -4.0]),
        ({"clip_value": 5.0, "clip_each": 5.0, "clip_norm": 5.0}, [3.0, -4.0]),
        ({"clip_value": 3.5, "clip_norm": 100.0}, [3.0, -3.5]),
        ({"clip_value": 100.0, "clip_each": 2.5}, [1.5, -2.0]),
        ({"clip_value": 100.0, "clip_norm": 2.5}, [1.5, -2.0]),
    ],
)
def test_a_gradient_is_clipped_by_the_bounds_that_it_exceeds(settings: dict[str, float], expected: list[float]) -> None:
    config = tiny_config(**{"clip_value": None, **settings})
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([3.0, -4.0])
    clip(config, [parameter], gradient_norm(config, [parameter]))
    torch.testing.assert_close(parameter.grad, torch.tensor(expected))


def test_spoilt_weights_never_reach_a_checkpoint(tmp_path: Path) -> None:
    """Steps so large that they overflow the weights at the very step after which a checkpoint is due."""
    config = tiny_config(learning_rate=3e38, checkpoint_every=1, optimiser="rmsprop")
    with pytest.raises(TrainingStopped, match=r"parameter '.*' is not finite|the model's output|the loss|gradient"):
        run_tiny(tmp_path, config)
    for path in (tmp_path / "checkpoints").iterdir():
        tensors = checkpoint.load(path).tensors
        assert all(torch.isfinite(value).all() for name, value in tensors.items() if name.startswith("model."))


def test_parameter_spoilt_from_outside_is_named(tmp_path: Path) -> None:
    model = tiny_model()
    with torch.no_grad():
        model.head.bias[0] = float("nan")
    with pytest.raises(TrainingStopped, match=r"step 1 .*: parameter 'head.bias' is not finite"):
        run_tiny(tmp_path, model=model)


def test_tensorboard_gets_the_records(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]
        EventAccumulator,
    )

    config = tiny_config(tensorboard=True)
    run_tiny(tmp_path, config)
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [3, 6, 9, 10]
    assert [event.step for event in events.Scalars("eval longer/bit_errors")] == [4, 8, 10]
    run_tiny(tmp_path, tiny_config(tensorboard=True, steps=17), resume=True)
    events.Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [3, 6, 9, 10, 12, 15, 17]
