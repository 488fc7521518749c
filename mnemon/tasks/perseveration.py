"""Perseveration (thesis §7.4.2): to go on with one sub-task where another is asked.

The thesis shows it in pictures only, of an NTM that answers a whole sequence with, say, repeat copy. Here it is
counted, step by step: how many answers are wrong, and at the same time a step of the other sub-task's own answer. Which
step does not matter, as a head that is stuck may be anywhere. Answers by chance are seldom a step of it: of 8 random
bits, 1 in 256 for each different step. What is not counted is a way of answering that is carried over to other items,
such as copying the list from which one item was to be recalled.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

from jaxtyping import Float
from torch import Tensor

from mnemon.tasks.base import Batch
from mnemon.tasks.scoring import wrong_bits


def metric_of(name: str) -> str:
    """What the share of a sub-task is called among the metrics: ``answered_as_repeat_copy``."""
    return f"answered_as_{name.replace(' ', '_')}"


def answered_as(subtask: int, output: Float[Tensor, "T B O"], batch: Batch) -> float:
    """Of the steps that other sub-tasks ask, the share answered wrongly and with a step of this one's answer.

    Steps are asked in all rows or in none.
    """
    asked, own = batch.mask[:, 0] > 0, batch.subtasks == subtask
    given, answer = output[asked & ~own] > 0, batch.targets[asked & own] > 0.5
    is_step_of_it = (given.unsqueeze(1) == answer).all(-1).any(1)
    wrong = wrong_bits(output, batch)[asked & ~own].any(-1)
    return float((is_step_of_it & wrong).float().mean())
