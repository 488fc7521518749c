"""The variational models: divergences that are exact for one mode, padding that never counts, words that come again."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from mnemon import UserError
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.models.encoder_decoder import EncoderDecoder
from mnemon.models.generation import word_choice
from mnemon.models.variational_decoder import LatentDecoder
from mnemon.rnn import Engine
from mnemon.theory import mixtures
from mnemon.views import ViewSizes

NAMES = ["vmed", "cvae", "vlstm"]
TOKENS, ANSWERS = 7, 6
every_model = pytest.mark.parametrize("name", NAMES)


def make(name: str, seed: int = 0, answers: int = ANSWERS, **settings: Any) -> EncoderDecoder:
    torch.manual_seed(seed)
    sizes = {"hidden": 5, "slots": 4, "word": 4, "heads": 3, "embedding": 3} | settings
    model = build_model(ModelConfig(name=name, **sizes), ViewSizes((TOKENS,), "sequence"), answers)
    assert isinstance(model, EncoderDecoder)
    return model.double()


def draw(seed: int = 0, batch: int = 3, steps: int = 5) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(seed)
    asked = torch.arange(steps).unsqueeze(1) < torch.tensor([steps, 2, 1])[:batch]
    return {
        "views": [torch.randint(0, TOKENS, (4, batch), generator=generator)],
        "lengths": [torch.tensor([4, 2, 1])[:batch]],
        "steps": steps,
        "targets": torch.randint(0, ANSWERS, (steps, batch), generator=generator),
        "asked": asked,
    }


def taught(model: EncoderDecoder, given: dict[str, Any], seed: int = 1) -> tuple[Tensor, Tensor]:
    torch.manual_seed(seed)
    output, _, losses = model(**given, teacher=1.0, losses=True)
    return output, losses["kl"]


def decoder_of(model: EncoderDecoder) -> LatentDecoder:
    decoder = model.decoders[0]
    assert isinstance(decoder, LatentDecoder)
    return decoder


@every_model
@pytest.mark.parametrize("layers", [None, 2])
def test_engines_agree(name: str, layers: int | None) -> None:
    results = []
    engines: tuple[Engine, ...] = ("auto", "reference")
    for engine in engines:
        model = make(name, layers=layers)
        model.engine = engine
        output, divergence = taught(model, draw())
        (output.sin().sum() + divergence).backward()  # type: ignore[no-untyped-call]
        gradients = [part.grad for part in model.parameters() if part.numel()]
        said = model.generate(draw()["views"], draw()["lengths"], 4, generator=torch.Generator().manual_seed(2))
        results.append((output.detach(), divergence.detach(), gradients, said.tokens))
    torch.testing.assert_close(*results, rtol=1e-9, atol=1e-11)


@every_model
@pytest.mark.parametrize("latent_size", [None, 3])
def test_everything_learns(name: str, latent_size: int | None) -> None:
    model = make(name, latent_size=latent_size)
    output, divergence = taught(model, draw())
    (output.square().sum() + divergence).backward()  # type: ignore[no-untyped-call]
    still = [
        key for key, part in model.named_parameters() if part.numel() and (part.grad is None or not part.grad.any())
    ]
    # what the encoder would answer by itself is never asked
    assert not [key for key in still if "readout" not in key]


@every_model
def test_padding_never_counts(name: str) -> None:
    model, given = make(name), draw()
    output, divergence = taught(model, given)
    longer = torch.randint(0, ANSWERS, (3, 3))
    padded = given | {
        "views": [torch.cat([given["views"][0], torch.ones(2, 3, dtype=torch.int64)])],
        "targets": torch.cat([given["targets"], longer]),
        "asked": torch.cat([given["asked"], torch.zeros(3, 3, dtype=torch.bool)]),
        "steps": 8,
    }
    more, same = taught(model, padded)
    torch.testing.assert_close(same, divergence)
    torch.testing.assert_close(more[:5], output)
    other = given | {"targets": torch.where(given["asked"], given["targets"], (given["targets"] + 1) % ANSWERS)}
    changed, again = taught(model, other)
    torch.testing.assert_close(again, divergence)
    torch.testing.assert_close(changed[given["asked"]], output[given["asked"]])


@every_model
def test_the_divergence_of_a_step_is_a_mean_over_what_is_asked(name: str) -> None:
    model, given = make(name), draw()
    with torch.no_grad():
        _, divergence = taught(model, given)
        torch.manual_seed(1)
        encoded = model.encode(given["views"], given["lengths"])
        guided = decoder_of(model).guided(encoded, given["targets"], given["asked"])
    total = 0.0
    for step in range(5):
        for row in range(3):
            if given["asked"][step, row]:
                total += float(guided.divergence[step, row])
            else:
                assert guided.divergence[step, row] == 0
    assert float(divergence) == pytest.approx(total / int(given["asked"].sum()))
    assert bool(guided.divergence[1:].any()) == (name != "cvae")


@pytest.mark.parametrize(("name", "heads"), [("vmed", 1), ("cvae", 3), ("vlstm", 3)])
def test_with_one_mode_the_divergence_is_exact(name: str, heads: int) -> None:
    model, given = make(name, heads=heads), draw()
    encoded = model.encode(given["views"], given["lengths"])
    guided = decoder_of(model).guided(encoded, given["targets"])
    prior, posterior, _ = guided.latents
    only = mixtures.Gaussian(prior.mean.squeeze(-2), prior.sd.squeeze(-2))
    exact = mixtures.gaussian_divergence(posterior, only)
    torch.testing.assert_close(guided.divergence[: len(exact)], exact)


def test_a_step_of_vmed_written_out() -> None:
    """Prior from r_{t−1}, posterior from [r̄, h^u_t], controller from [y_{t−1}, z_t], words from its output alone."""
    model, given = make("vmed"), draw()
    decoder = decoder_of(model)
    model.engine = "reference"
    encoded = model.encode(given["views"], given["lengths"])
    torch.manual_seed(3)
    guided = decoder.guided(encoded, given["targets"])
    torch.manual_seed(3)
    cell, state = decoder.rnn.cell, decoder.begin(encoded)
    assert torch.equal(state.memory.reads, encoded.memories[0].reads)
    heard, _ = decoder.utterance(decoder.embedding(given["targets"]))
    word = torch.zeros(3, 3, dtype=torch.float64)
    for step in range(5):
        belief = decoder.prior(state)
        posterior = decoder.posterior(belief.summary, heard[step])
        latent = posterior.mean + posterior.sd * torch.randn(3, 2, dtype=torch.float64)
        torch.testing.assert_close(guided.latents.value[step], latent)
        controller = cell.controller(torch.cat([word, latent], dim=1), state.controller)
        memory = cell.memory(cell.memory.parse(cell.interface(controller.hidden)), state.memory)
        assert cell.readout_weight is not None
        logits = controller.hidden @ cell.readout_weight.T + cell.readout_bias
        torch.testing.assert_close(guided.logits[step], logits)
        state = state._replace(controller=controller, memory=memory)
        word = decoder.embedding(given["targets"][step])


@pytest.mark.parametrize("writes", [None, False])
def test_a_decoder_that_does_not_write(writes: bool | None) -> None:
    model, given = make("vmed", decoder_writes=writes), draw()
    decoder = decoder_of(model)
    encoded = model.encode(given["views"], given["lengths"])
    state = decoder.begin(encoded)
    _, after = decoder.rnn.cell.step(torch.zeros(3, 5, dtype=torch.float64), state)
    assert torch.equal(after.memory.memory, state.memory.memory) == (writes is False)


@every_model
def test_the_same_generator_says_the_same(name: str) -> None:
    model, given = make(name), draw()

    def say(seed: int, **options: Any) -> tuple[Tensor, Tensor | None]:
        generator = torch.Generator().manual_seed(seed)
        return model.generate(given["views"], given["lengths"], 6, generator=generator, **options)

    for options in ({}, {"temperature": 0.7, "top_p": 0.9}, {"mode": 0}):
        first, again = say(5, **options), say(5, **options)
        assert torch.equal(first[0], again[0])
        torch.manual_seed(9)  # the global generator plays no part
        assert torch.equal(say(5, **options)[0], first[0])
    assert any(not torch.equal(say(5, temperature=1.0)[0], say(seed, temperature=1.0)[0]) for seed in range(6, 10))


def test_only_the_mode_that_is_asked_for() -> None:
    model, given = make("vmed"), draw()
    for mode in range(3):
        found = model.generate(given["views"], given["lengths"], 4, mode=mode)
        assert found.modes is not None
        assert (found.modes == mode).all()
    free = model.generate(given["views"], given["lengths"], 20, generator=torch.Generator().manual_seed(0)).modes
    assert free is not None
    assert set(free.flatten().tolist()) == {0, 1, 2}
    with pytest.raises(UserError, match="this model has 3 modes: write a mode from 0 to 2, not 3"):
        model.generate(given["views"], given["lengths"], 4, mode=3)


@every_model
def test_saved_and_loaded_says_the_same(name: str, tmp_path: Path) -> None:
    model, other, given = make(name), make(name, seed=8), draw()
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    other.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    words = [
        each.generate(given["views"], given["lengths"], 9, generator=torch.Generator().manual_seed(1)).tokens
        for each in (model, other)
    ]
    assert torch.equal(*words)


def test_deterministic_models_generate_too() -> None:
    given = draw()
    model = make("dc-mann")
    greedy = model.generate(given["views"], given["lengths"], 6)
    assert greedy.modes is None
    decoder: Any = model.decoders[0]
    assert torch.equal(greedy.tokens, decoder.greedy(model.encode(given["views"], given["lengths"]), 6))
    warm = [
        model.generate(given["views"], given["lengths"], 6, temperature=2.0, generator=torch.Generator().manual_seed(1))
        for _ in range(2)
    ]
    assert torch.equal(warm[0].tokens, warm[1].tokens)
    with pytest.raises(UserError, match="this model has no modes: leave out mode"):
        model.generate(given["views"], given["lengths"], 6, mode=1)


def test_words_are_drawn_among_the_likely_ones() -> None:
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log().expand(4_000, 4)
    generator = torch.Generator().manual_seed(0)
    drawn = word_choice(temperature=1.0, top_p=0.75, generator=generator)(logits)
    torch.testing.assert_close(drawn.bincount() / 4_000, torch.tensor([0.625, 0.375]), rtol=0, atol=0.03)
    cold = word_choice(temperature=0.5, generator=generator)(logits)
    squares = logits[0].exp().square()
    torch.testing.assert_close(cold.bincount() / 4_000, squares / squares.sum(), rtol=0, atol=0.03)
    assert not word_choice()(logits).any()
    assert not word_choice(temperature=1.0, top_p=1e-9)(logits).any()
    for bad, message in (({"temperature": -1.0}, "temperature must be 0"), ({"top_p": 0.0}, "top_p must be above 0")):
        with pytest.raises(UserError, match=message):
            word_choice(**bad)  # type: ignore[arg-type]


@every_model
def test_free_bits_lift_the_divergence_while_training(name: str) -> None:
    model, given = make(name, free_bits=100.0), draw()
    divergence = taught(model.train(), given)[1].detach()
    variables = int(given["asked"][0].sum()) if name == "cvae" else int(given["asked"].sum())
    assert float(divergence) == pytest.approx(100 * variables / int(given["asked"].sum()))
    torch.testing.assert_close(taught(model.eval(), given)[1], taught(make(name), given)[1])


@every_model
@pytest.mark.parametrize("alone", [True, None])
def test_a_decoder_that_is_told_its_latents_alone_knows_neither_context_nor_words(
    name: str, alone: bool | None
) -> None:
    """With latent variables that are always the same, it says the same whatever it was asked and whatever is right."""
    model, outputs = make(name, latents_alone=alone), []
    network = decoder_of(model).posterior.network
    with torch.no_grad():
        network.weight.zero_()
        network.bias.copy_(torch.tensor([0.7, -0.4, -40.0, -40.0]))  # means, and an s.d. of 1e-6
    for seed in (0, 1):
        given = draw(seed)
        outputs.append(taught(model, given | {"asked": None})[0])
    first, second = outputs
    assert torch.allclose(first, second, atol=1e-4) == bool(alone)
    said = model.generate(draw()["views"], draw()["lengths"], 4, generator=torch.Generator().manual_seed(2))
    assert said.tokens.shape == (4, 3)


@every_model
def test_small_and_large(name: str) -> None:
    """One slot, one step, a vocabulary of one token, a batch of one, an empty context."""
    model = make(name, slots=1, heads=1, answers=1)
    given = draw(batch=1, steps=1) | {"targets": torch.zeros(1, 1, dtype=torch.int64), "lengths": [torch.tensor([0])]}
    output, divergence = taught(model, given)
    assert output.shape == (1, 1, 1)
    assert divergence.isfinite()
    assert model.generate(given["views"], given["lengths"], 1).tokens.tolist() == [[0]]
    model = make(name)
    with torch.no_grad():
        for part in model.parameters():
            part.mul_(1e4)
    output, divergence = taught(model, draw())
    assert output.isfinite().all()
    assert divergence.isfinite()
    divergence.backward()  # type: ignore[no-untyped-call]
    assert all(part.grad is None or part.grad.isfinite().all() for part in model.parameters())


@pytest.mark.parametrize("weighting", ["max", "sparse", "stick-breaking"])
def test_gradients_are_those_of_finite_differences(weighting: str) -> None:
    model, given = make("vmed", mode_weighting=weighting), draw(batch=2, steps=2)
    model.engine = "reference"
    weight = decoder_of(model).posterior.network.weight

    def run(changed: Tensor) -> Tensor:
        torch.manual_seed(0)
        keywords = given | {"teacher": 1.0, "losses": True}
        found = torch.func.functional_call(model, {"decoders.0.posterior.network.weight": changed}, (), keywords)
        return found[0].sum() + found[2]["kl"]  # type: ignore[no-any-return]

    assert torch.autograd.gradcheck(run, (weight.detach().requires_grad_(),), fast_mode=True)


def test_mistakes_are_named() -> None:
    model, given = make("vmed"), draw()
    with pytest.raises(UserError, match="a variational model learns from the right tokens"):
        model(**given, losses=True)
    with pytest.raises(UserError, match=r"always or never: teacher=1 or 0, not 0\.5"):
        model(**given, teacher=0.5)
    for bad, message in (
        ({"name": "vmed", "word": 3}, "write an even word in place of 3"),
        ({"name": "vlstm", "mode_weighting": "sparse"}, "has no modes in a memory: leave out mode_weighting"),
        ({"name": "dc-mann", "free_bits": 1.0}, "has no latent variable: leave out free_bits"),
        ({"name": "dc-mann", "latents_alone": True}, "has no latent variable: leave out latents_alone"),
        ({"name": "vmed", "mode_weighting": "spare"}, "no mode weighting is called 'spare'"),
        ({"name": "lstm", "layers": 2}, "has one layer"),
        ({"name": "cvae", "word": 1}, "write word=2 or more"),
        ({"name": "dc-mann", "latent_size": 2}, "has no latent variable: leave out latent_size"),
        ({"name": "vmed", "latent_size": 0}, "latent_size must be at least 1"),
        ({"name": "vmed", "latent_size": 2, "mode_weighting": "even"}, "leave out mode_weighting, or latent_size"),
        ({"name": "vmed", "free_bits": -1.0}, "free_bits must be 0 or a number of nats above"),
    ):
        with pytest.raises(UserError, match=message):
            build_model(ModelConfig(**bad), ViewSizes((3,), "sequence"), 4)
    with pytest.raises(UserError, match="answers with a sequence"):
        build_model(ModelConfig(name="vmed", word=4), ViewSizes((3,), "set"), 4)
    with pytest.raises(UserError, match="reads one view, not 2"):
        build_model(ModelConfig(name="vmed", word=4), ViewSizes((3, 3), "sequence"), 4)
