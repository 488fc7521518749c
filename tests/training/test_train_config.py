import json
from typing import Any

import pytest
import torch

from mnemon.errors import UserError
from mnemon.training.config import TrainConfig
from mnemon.training.optimiser import make_optimiser, set_learning_rate


def test_defaults_are_those_of_the_ntm_family() -> None:
    config = TrainConfig()
    assert (config.optimiser, config.learning_rate, config.rmsprop_alpha, config.rmsprop_momentum) == (
        "rmsprop",
        1e-4,
        0.95,
        0.9,
    )
    assert (config.clip_value, config.clip_norm, config.batch_size) == (10.0, None, 16)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, 0) for name in ("steps", "batch_size", "log_every", "eval_every", "eval_sequences")),
        ("checkpoint_every", -1),
        ("keep", 0),
        ("seed", -1),
        ("seed", 2**63),
        ("optimiser", "sgd"),
        *(("learning_rate", value) for value in (0.0, -1.0, float("nan"), float("inf"))),
        ("rmsprop_alpha", 1.0),
        ("rmsprop_momentum", -0.1),
        ("clip_value", 0.0),
        ("clip_each", -1.0),
        ("clip_norm", float("inf")),
    ],
)
def test_bad_value_is_refused_in_one_line_that_says_what_to_write(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=rf"^training setting '{name}' is .*: write [^\n]+$"):
        TrainConfig(**{name: value})


def test_json_round_trip() -> None:
    config = TrainConfig(steps=3, optimiser="adam", clip_value=None, clip_norm=5.0, tensorboard=True)
    assert TrainConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_whole_numbers_serve_as_floats() -> None:
    config = TrainConfig.from_json(TrainConfig().to_json() | {"clip_value": 10})
    assert config == TrainConfig()
    assert type(config.clip_value) is float


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("steps", 1.5, "int"),
        ("steps", True, "int"),
        ("steps", None, "int"),
        ("learning_rate", "fast", "float"),
        ("clip_norm", "none", "float or null"),
        ("tensorboard", 1, "bool"),
        ("optimiser", 3, "str"),
    ],
)
def test_ill_typed_json_is_refused(name: str, value: object, wanted: str) -> None:
    with pytest.raises(UserError, match=f"'{name}' is .*: write a value of type {wanted}$"):
        TrainConfig.from_json(TrainConfig().to_json() | {name: value})


def test_unknown_and_missing_settings_are_refused() -> None:
    document = TrainConfig().to_json()
    with pytest.raises(UserError, match=r"no setting 'learning_rte': choose from steps, .*learning_rate"):
        TrainConfig.from_json(document | {"learning_rte": 1.0})
    del document["keep"]
    with pytest.raises(UserError, match="'keep' is missing"):
        TrainConfig.from_json(document)


def test_the_learning_rate_falls_to_zero_over_the_last_share_of_the_steps() -> None:
    parameter = torch.nn.Parameter(torch.zeros(1))
    config = TrainConfig(steps=10, learning_rate=2.0, anneal=0.4)
    optimiser = make_optimiser(config, [parameter])
    rates = []
    for step in range(1, 11):
        set_learning_rate(config, optimiser, step)
        rates.append(optimiser.param_groups[0]["lr"])
    assert rates == pytest.approx([2.0] * 7 + [1.5, 1.0, 0.5])
    set_learning_rate(TrainConfig(steps=10, learning_rate=2.0), optimiser, 10)
    assert optimiser.param_groups[0]["lr"] == 2.0
