"""Sequencing (thesis §7.4.2): several tasks in one sequence, in an order that is shown at its beginning.

The thesis says that the learner "observes the order indicator following by a sequence of subtasks' input items and is
requested to consecutively produce the output items of each subtasks", and its figures have one decoding phase. So all
prompts come first, and then all answers, both in the order shown. What the indicator looks like is not said: here it is
one step, with the place of each task, over their number, in a channel of its own.

Letters: ``T`` time, ``B`` batch, ``P`` steps of a prompt, ``A`` steps of an answer, ``I`` input channels,
``O`` output channels.
"""

import re
from dataclasses import dataclass
from itertools import zip_longest

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.base import Batch
from mnemon.tasks.perseveration import answered_as, metric_of
from mnemon.tasks.sampling import add_channels, prompt_then_answer


@dataclass(frozen=True, kw_only=True)
class Sequencing(AnsweringTask):
    """Show an order and the prompts of all parts in it, then ask for their answers in it.

    One order serves a whole batch. Channels that a part does not have are zero for it. With two parts, and the order
    "the second, then the first"::

        step                0    1         2         3         4
        input, channel 1    1    prompt 2  prompt 1  0         0
        input, channel 2    1/2
        target                                       answer 2  answer 1
    """

    parts: tuple[AnsweringTask, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise UserError(f"Sequencing has {len(self.parts)} parts: write two or more")
        if len(self.parts) > self.input_size:
            raise UserError(f"Sequencing has {len(self.parts)} parts: write {self.input_size} or fewer, one a channel")

    @property
    def names(self) -> tuple[str, ...]:
        """What the parts are called: ``repeat copy``, with its number where there are several."""
        words = [re.sub(r"\B(?=[A-Z])", " ", type(part).__name__).lower() for part in self.parts]
        return tuple(
            name if words.count(name) == 1 else f"{name} {number}" for number, name in enumerate(words, start=1)
        )

    @property
    def input_channels(self) -> tuple[str, ...]:
        """A name for each channel of the widest input: what the parts call it."""
        return _joint_names(*(part.input_channels for part in self.parts))

    @property
    def output_channels(self) -> tuple[str, ...]:
        """A name for each channel of the widest answer."""
        return _joint_names(*(part.output_channels for part in self.parts))

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw an order, then the parts in it. The step that shows the order is of no part."""
        order = torch.randperm(len(self.parts), generator=generator, device=generator.device).tolist()
        prompts, answers = [], []
        for number in order:
            prompt, answer = _apart(self.parts[number].sample(batch_size, generator))
            prompts.append(add_channels(prompt, self.input_size - prompt.shape[-1]))
            answers.append(add_channels(answer, self.output_size - answer.shape[-1]))
        indicator = prompts[0].new_zeros(1, *prompts[0].shape[1:])
        for place, number in enumerate(order, start=1):
            indicator[..., number] = place / len(order)
        batch = prompt_then_answer(torch.cat([indicator, *prompts]), torch.cat(answers))
        lengths = [1, *map(len, prompts), *map(len, answers)]
        numbers = torch.tensor([-1, *order, *order], device=generator.device)
        subtasks = numbers.repeat_interleave(torch.tensor(lengths, device=generator.device))
        return batch._replace(subtasks=subtasks)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """The bit metrics, and how often each part is answered where another is asked: ``answered_as_copy``."""
        perseveration = {metric_of(name): answered_as(number, output, batch) for number, name in enumerate(self.names)}
        return super().metrics(output, batch) | perseveration


def _apart(batch: Batch) -> tuple[Float[Tensor, "P B I"], Float[Tensor, "A B O"]]:
    """The prompt of a batch and its answer, which are at the same steps in all rows."""
    asked = batch.mask[:, 0] > 0
    return batch.inputs[~asked], batch.targets[asked]


def _joint_names(*channels: tuple[str, ...]) -> tuple[str, ...]:
    """Each channel by all the names it goes by: ``end/count``."""
    return tuple("/".join(dict.fromkeys(name for name in names if name)) for names in zip_longest(*channels))
