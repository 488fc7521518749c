"""How answers made of bits are scored: the output is one logit a bit, and a positive logit answers 1.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from mnemon.tasks.base import Batch


def bit_losses(output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, "T B O"]:
    """The cross-entropy of each bit in nats, zero where no answer is asked; never in half precision."""
    logits = output.to(torch.promote_types(output.dtype, torch.float32))
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
