"""Bracket matching: which bracket may be closed now? (thesis §3.3.1, problems with hierarchical structure)

The words are those of the Dyck language of ``kinds`` brackets, in which every bracket that is opened is closed, the
last one first. All words with as many pairs are equally likely. After an opening bracket the answer is plain; so the
task asks after closing ones, where what is now innermost was opened long before.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import asked_steps
from mnemon.tasks.sampling import draw_between, draw_uniform
from mnemon.tasks.scoring import class_loss, class_metrics, wrong_classes
from mnemon.tasks.settings import check_at_least, check_range

OPENING = "([{<" + ascii_lowercase
CLOSING = ")]}>" + ascii_uppercase
NOTHING = 0  # the answer where nothing is open


@dataclass(frozen=True, kw_only=True)
class Brackets:
    """Show a word of brackets; after each closing one ask for that which may be closed next, or for nothing.

    One length serves a whole batch. With two kinds, ``–`` for nothing::

        step    0  1  2  3  4  5  6  7
        input   (  [  (  )  ]  )  [  ]
        target           ]  )  –     –
    """

    kinds: int = 4
    min_pairs: int = 1
    max_pairs: int = 20

    def __post_init__(self) -> None:
        check_at_least("Brackets", 1, kinds=self.kinds)
        check_range("Brackets", 1, min_pairs=self.min_pairs, max_pairs=self.max_pairs)
        if self.kinds > len(OPENING):
            raise UserError(f"Brackets(kinds={self.kinds}): write kinds={len(OPENING)} or less")

    @property
    def input_size(self) -> int:
        """The opening brackets, then the closing ones."""
        return 2 * self.kinds

    @property
    def output_size(self) -> int:
        """Nothing, then the closing brackets."""
        return self.kinds + 1

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a length, then the words."""
        pairs = draw_between(self.min_pairs, self.max_pairs, generator)
        opens = draw_openings(pairs, batch_size, generator)
        shape = (2 * pairs, batch_size)
        drawn = torch.randint(self.kinds, shape, generator=generator, device=generator.device)
        kinds, innermost = close_in_order(opens, drawn)
        return Batch(
            inputs=one_hot(torch.where(opens, kinds, kinds + self.kinds), 2 * self.kinds).to(torch.float32),
            targets=one_hot(innermost, self.kinds + 1).to(torch.float32),
            mask=(~opens).to(torch.float32),
        )

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked brackets, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """``accuracy``, the share of right brackets, and ``word_accuracy``, that of words without a wrong one."""
        whole = ~wrong_classes(output, batch).any(0)
        return {**class_metrics(output, batch), "word_accuracy": float(whole.float().mean())}

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One row of the batch as text, errors marked."""
        asked = asked_steps(batch, row)
        brackets, answers = OPENING[: self.kinds] + CLOSING[: self.kinds], "–" + CLOSING[: self.kinds]

        def write(numbers: Float[Tensor, "T O"]) -> str:
            named = zip(numbers.argmax(-1).tolist(), asked, strict=True)
            return "".join(answers[number] if there else " " for number, there in named)

        lines = {
            "asked": "".join("▲" if there else "·" for there in asked),
            "input": "".join(brackets[number] for number in batch.inputs[:, row].argmax(-1).tolist()),
            "target": write(batch.targets[:, row]),
        }
        footer = []
        if output is not None:
            wrong = wrong_classes(output, batch)[:, row].tolist()
            marked = zip(write(output[:, row]), wrong, strict=True)
            lines["answer"] = "".join("×" if error else bracket for bracket, error in marked)
            footer.append(f"{sum(wrong)} of {sum(asked)} brackets wrong")
        return "\n".join([*(f"{title:<8}{line}".rstrip() for title, line in lines.items()), *footer])


def draw_openings(pairs: int, batch_size: int, generator: torch.Generator) -> Bool[Tensor, "T B"]:
    """Whether each bracket of a word opens, all words of so many pairs being equally likely.

    With h brackets open and m more to come, (h + 2)(m − h) of 2m(h + 1) completions begin with an opening one: the
    ratio of two ballot numbers.
    """
    thresholds = draw_uniform(2 * pairs, batch_size, generator=generator)
    height, opens = thresholds.new_zeros(batch_size), []
    for left, threshold in zip(range(2 * pairs, 0, -1), thresholds, strict=True):
        opening = threshold < (height + 2) * (left - height) / (2 * left * (height + 1))
        height = height + torch.where(opening, 1, -1)
        opens.append(opening)
    return torch.stack(opens)


def close_in_order(
    opens: Bool[Tensor, "T B"], drawn: Int[Tensor, "T B"]
) -> tuple[Int[Tensor, "T B"], Int[Tensor, "T B"]]:
    """Each bracket's kind, drawn where it opens; and the number of what may be closed after it, 0 where nothing is."""
    steps, batch = drawn.shape
    rows, heights = torch.arange(batch, device=drawn.device), torch.where(opens, 1, -1).cumsum(0)
    open_kinds = drawn.new_zeros(steps + 1, batch)  # by height, that of nothing below them all
    kinds, innermost = [], []
    for opening, kind, height in zip(opens, drawn, heights, strict=True):
        level = torch.where(opening, height, height + 1)  # of the bracket itself
        kind = torch.where(opening, kind + 1, open_kinds[level, rows])
        open_kinds = open_kinds.index_put((level, rows), kind)
        kinds.append(kind - 1)
        innermost.append(open_kinds[height, rows])
    return torch.stack(kinds), torch.stack(innermost)
