"""How answers are scored.

Bits: the output is one logit a bit, and a positive logit answers 1. Classes (tokens, labels): the target is one-hot
over the O classes, and the largest of their logits is the answer. Numbers: the output is the answer.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss

from mnemon.tasks.base import Batch


def bit_losses(output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, "T B O"]:
    """The cross-entropy of each bit in nats, zero where no answer is asked; never in half precision."""
    logits = _at_least_single(output)
    losses = binary_cross_entropy_with_logits(logits, batch.targets.to(logits.dtype), reduction="none")
    return losses * batch.mask.unsqueeze(-1)


def bit_loss(output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
    """The mean cross-entropy of the asked bits, in nats."""
    return bit_losses(output, batch).sum() / asked_bits(batch)


def wrong_bits(output: Float[Tensor, "T B O"], batch: Batch) -> Bool[Tensor, "T B O"]:
    """Where an asked bit is answered wrongly. A logit that is not a number is always wrong."""
    right = torch.where(batch.targets > 0.5, output > 0, output <= 0)
    return ~right & (batch.mask > 0).unsqueeze(-1)


def bit_metrics(output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
    """``bit_errors``, the wrong bits of a sequence, and ``bit_accuracy``, the share of right ones."""
    errors = float(wrong_bits(output, batch).sum())
    return {
        "bit_errors": errors / batch.mask.shape[1],
        "bit_accuracy": 1.0 - errors / float(asked_bits(batch)),
    }


def asked_bits(batch: Batch) -> Float[Tensor, ""]:
    """How many bits the batch asks for."""
    return batch.mask.sum() * batch.targets.shape[-1]


def class_loss(output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
    """The mean cross-entropy of the asked classes, in nats; never in half precision."""
    asked = batch.mask > 0
    return cross_entropy(_at_least_single(output[asked]), batch.targets[asked].argmax(-1))


def wrong_classes(output: Float[Tensor, "T B O"], batch: Batch) -> Bool[Tensor, "T B"]:
    """Where an asked class is answered wrongly. Logits with one that is not a number are always wrong."""
    right = (output.argmax(-1) == batch.targets.argmax(-1)) & ~output.isnan().any(-1)
    return ~right & (batch.mask > 0)


def class_metrics(output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
    """``accuracy``, the share of right answers."""
    return {"accuracy": 1.0 - float(wrong_classes(output, batch).sum()) / float(batch.mask.sum())}


def number_loss(output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
    """The mean squared error of the asked numbers; never in half precision."""
    asked = batch.mask > 0
    return mse_loss(_at_least_single(output[asked]), batch.targets[asked])


def _at_least_single(output: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    return output.to(torch.promote_types(output.dtype, torch.float32))
