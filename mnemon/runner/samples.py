"""What a trained model says in return to held-out contexts, left as JSON (as thesis, Table 5.2).

samples     a list of ``{"context", "response", "answers"}``: texts for people, several answers to each context

No context is chosen: they are the first of the test, whose order is random. Words are the likeliest, as in the tests.
"""

import json
from pathlib import Path

import torch
from torch import nn

from mnemon.models.encoder_decoder import Concatenated, EncoderDecoder
from mnemon.tasks.dialogue import Dialogue
from mnemon.training.files import write_atomically
from mnemon.training.seeding import batch_seed, generator_from

CONTEXTS = 8
ANSWERS = 3  # to each


def write_samples(path: Path, model: nn.Module, task: Dialogue, seed: int) -> None:
    """Let the model answer, and write what it said."""
    assert isinstance(model, EncoderDecoder | Concatenated)
    batch = task.batch_of(torch.arange(min(CONTEXTS, task.size)))
    assert batch.visits is not None
    visit = batch.visits[0]
    model.eval()
    answers = [
        model.generate(
            visit.views, visit.lengths, len(batch.mask), generator=generator_from(batch_seed(seed, "samples", number))
        ).tokens
        for number in range(ANSWERS)
    ]
    tell = task.wording.text
    samples = [
        {
            "context": tell(visit.views[0][:, row].tolist()),
            "response": tell(batch.targets[:, row].argmax(-1).tolist()),
            "answers": [tell(tokens[:, row].tolist()) for tokens in answers],
        }
        for row in range(batch.mask.shape[1])
    ]
    write_atomically(path, json.dumps({"samples": samples}, ensure_ascii=False, indent=1).encode())
