"""Models as two files."""

import json
from pathlib import Path

import pytest
import torch

from mnemon.errors import UserError
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.sharing.pretrained import CONFIG, WEIGHTS, from_pretrained, save_pretrained
from mnemon.training.files import DamagedFile, read_json, write_json
from mnemon.views import ViewSizes

NTM = ModelConfig(name="ntm", hidden=8, slots=6, word=4, heads=1)


def save(folder: Path) -> torch.nn.Module:
    torch.manual_seed(0)
    model = build_model(NTM, 5, 3)
    save_pretrained(folder, model, NTM, 5, 3)
    return model


def test_a_model_comes_back_as_it_was_and_random_numbers_go_on(tmp_path: Path) -> None:
    model, inputs = save(tmp_path / "new" / "folder"), torch.randn(4, 2, 5)
    before = torch.random.get_rng_state()
    again = from_pretrained(tmp_path / "new" / "folder")
    assert torch.equal(before, torch.random.get_rng_state())
    assert not again.training
    torch.testing.assert_close(again(inputs)[0], model(inputs)[0], rtol=0, atol=0)


def test_models_of_views_too(tmp_path: Path) -> None:
    config = ModelConfig(name="dcw-mann", hidden=8, slots=6, word=4, heads=1, embedding=4)
    sizes = ViewSizes((7,), "sequence")
    model = build_model(config, sizes, 9)
    save_pretrained(tmp_path, model, config, sizes, 9)
    tokens = torch.randint(7, (5, 2))
    said = [each([tokens], steps=3)[0] for each in (model.eval(), from_pretrained(tmp_path))]
    torch.testing.assert_close(*said, rtol=0, atol=0)


def test_nothing_is_written_of_a_model_that_is_another(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not the weights of 'ntm' as described"):
        save_pretrained(tmp_path / "out", build_model(NTM, 5, 3), NTM, 5, 4)
    assert not (tmp_path / "out").exists()


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=CONFIG):
        from_pretrained(tmp_path)
    save(tmp_path)
    whole = (tmp_path / WEIGHTS).read_bytes()
    (tmp_path / WEIGHTS).write_bytes(whole[:-40])
    with pytest.raises(DamagedFile, match="not a whole safetensors file"):
        from_pretrained(tmp_path)
    (tmp_path / WEIGHTS).write_bytes(whole)
    described = read_json(tmp_path / CONFIG)
    for change, says in (
        ({"version": 9}, "version 9"),
        ({"format": "other"}, "does not describe a mnemon model"),
        ({"output_size": 4}, "not the weights of"),
        ({"model": {"name": "ntm", "wings": 2}}, "damaged"),
        ({"model": {**described["model"], "name": "ntn"}}, "did you mean"),
        ({"input_size": "five"}, "damaged"),
    ):
        write_json(tmp_path / CONFIG, {**described, **change})
        with pytest.raises(UserError, match=says):
            from_pretrained(tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({**described, "output_size": 3, "input_size": 6}))
    with pytest.raises(UserError):
        from_pretrained(tmp_path)
