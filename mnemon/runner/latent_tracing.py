"""What a trained variational model makes of its latent variable (thesis §5.3), left as JSON for pictures and a table.

arrays      of one held-out answer, time down: the weight of each mode and, beside it, the mean over all answers
states      the latent variables of the first step on their first two principal components: drawn from the prior of one
            context, and from the posteriors of its answers. Where the task knows its modes, answers of different modes
            are told apart. A point is [first, second, kind, 1]
measures    ``modes_in_use``, how many modes have a hundredth of the weight or more, and ``modes_effective``, e to the
            entropy of the weights, both means over asked steps; ``kl_first`` and ``kl_later``, the divergence of the
            first step and the mean of the others: near zero where the posterior has collapsed

No sequence is chosen: they are the first of a stream of their own, and the first context there is.

Letters: ``A`` steps of the answer, ``B`` batch, ``K`` modes, ``Z`` latent.
"""

import json
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from mnemon.models.encoder_decoder import EncoderDecoder
from mnemon.models.variational_decoder import Guided, LatentDecoder
from mnemon.runner.tracing import DIGITS_OF_POINTS, array, rounded
from mnemon.tasks.base import Batch, Task
from mnemon.tasks.guided import Wrapping
from mnemon.tasks.multi_modal import MultiModal
from mnemon.theory.clusters import principal_components
from mnemon.theory.mixtures import sample_mixture
from mnemon.training.batches import draw
from mnemon.training.files import write_atomically
from mnemon.training.seeding import batch_seed, seed_noise

SEQUENCES = 96
IN_USE = 0.01  # of the weight


def write_latent_traces(path: Path, model: nn.Module, task: Task, seed: int) -> None:
    """Guide the model through held-out answers, and write what its latent variables were."""
    assert isinstance(model, EncoderDecoder)
    decoder = model.decoders[0]
    assert isinstance(decoder, LatentDecoder)
    batch, kinds = _batch(task, seed)
    assert batch.visits is not None
    steps, visit = len(batch.mask) // len(batch.visits), batch.visits[0]
    asked = batch.mask[:steps] > 0
    model.eval()
    seed_noise(seed, "trace", 0)
    with torch.no_grad():
        encoded = model.open(model.encode(visit.views, visit.lengths))
        guided = decoder.guided(encoded, batch.targets[:steps].argmax(-1), asked)
        document = {
            "title": "held-out answers",
            "arrays": _arrays(guided, asked),
            "states": _states(guided, kinds),
            "measures": _measures(guided, asked),
        }
    write_atomically(path, json.dumps(document, separators=(",", ":"), allow_nan=False).encode())


def _batch(task: Task, seed: int) -> tuple[Batch, list[str]]:
    """Answers, and of which kind each is."""
    inner = task.task if isinstance(task, Wrapping) else task
    if isinstance(inner, MultiModal):
        modes = [number % inner.modes for number in range(SEQUENCES)]
        return inner.ask([0] * SEQUENCES, modes), [f"posterior, answer {mode + 1}" for mode in modes]
    batch = draw(inner, SEQUENCES, batch_seed(seed, "trace", 0), torch.device("cpu"))
    return batch, ["posterior"] * SEQUENCES


def _arrays(guided: Guided, asked: Bool[Tensor, "A B"]) -> list[dict[str, Any]]:
    weights = guided.latents.prior.weights  # A B K, or of the first step alone
    there = asked[: len(weights)]
    mean = (weights * there.unsqueeze(2)).sum(1) / there.sum(1).clamp_min(1).unsqueeze(1)
    return [
        array("mode weights, first answer", "mode", weights[: int(there[:, 0].sum()), 0]),
        array("mode weights, mean", "mode", mean),
    ]


def _states(guided: Guided, kinds: list[str]) -> dict[str, Any]:
    prior = type(guided.latents.prior)(*(part[0] for part in guided.latents.prior))
    points = torch.cat([sample_mixture(prior).value, guided.latents.value[0]])
    if points.shape[1] == 1:
        points = torch.cat([points, torch.zeros_like(points)], dim=1)
    phases = ["prior", *sorted(set(kinds))]
    labels = torch.tensor([0] * len(kinds) + [phases.index(kind) for kind in kinds], dtype=points.dtype)
    projected, shares = principal_components(points)
    rows = torch.cat([projected, torch.stack([labels, torch.ones_like(labels)], dim=1)], dim=1)
    return {"phases": phases, "shares": shares.tolist(), "points": rounded(rows, DIGITS_OF_POINTS)}


def _measures(guided: Guided, asked: Bool[Tensor, "A B"]) -> dict[str, float]:
    weights = guided.latents.prior.weights
    counted = weights[asked[: len(weights)]]  # asked steps, K
    later, divergences = asked[1:], guided.divergence
    return {
        "modes_in_use": float((counted >= IN_USE).sum(1).float().mean()),
        "modes_effective": float(torch.special.entr(counted).sum(1).exp().mean()),
        "kl_first": float(divergences[0].mean()),
        "kl_later": float(divergences[1:][later].mean()) if later.any() else 0.0,
    }
