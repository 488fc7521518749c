"""Tasks that show views of tokens and ask for an answer in tokens: what such tasks share.

Letters: ``T`` steps of a view, ``A`` steps of the answer, ``B`` batch, ``O`` tokens of the answer.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.tasks.base import Batch
from mnemon.tasks.scoring import wrong_classes
from mnemon.views import Visit

END = 0  # the token that ends a view and, where it is asked for, an answer


def exchange(
    views: Sequence[Sequence[Sequence[int]]], answers: Sequence[Sequence[int]], tokens: int, *, ended: bool = True
) -> Batch:
    """A batch from the rows of each view, which get an end, and of the answer, of ``tokens`` kinds.

    An answer that is not ``ended`` is asked for to its last token and no further.
    """
    padded = [_pad([[*row, END] for row in view]) for view in views]
    targets, lengths = _pad([[*row, END] for row in answers] if ended else answers)
    steps, batch = targets.shape
    return Batch(
        inputs=torch.zeros(steps, batch, 0, dtype=torch.float32),
        targets=one_hot(targets, tokens).to(torch.float32),
        mask=(torch.arange(steps).unsqueeze(1) < lengths).to(torch.float32),
        visits=(Visit(tuple(tokens for tokens, _ in padded), tuple(own for _, own in padded)),),
    )


def _pad(rows: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "T B"], Int[Tensor, "B"]]:
    lengths = torch.tensor([len(row) for row in rows])
    tokens = torch.full((int(lengths.max()), len(rows)), END)
    for number, row in enumerate(rows):
        tokens[: len(row), number] = torch.tensor(row)
    return tokens, lengths


def until_end(tokens: Sequence[int]) -> list[int]:
    """What comes before the first end."""
    found = list(tokens)
    return found[: found.index(END)] if END in found else found


def normalised_distance(answer: Sequence[int], right: Sequence[int]) -> float:
    """The edits that turn one into the other, over the longer's length; two empty ones are the same."""
    from rapidfuzz.distance import Levenshtein  # of the extra that training needs

    return float(Levenshtein.normalized_distance(answer, right))


def sequence_metrics(output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
    """``nld``, the distance of the answers, each cut at its first end, and the ``accuracy`` of what is asked before it.

    A token counts as right where it stands; the end itself does not count.
    """
    answers, right = output.argmax(-1).T.tolist(), batch.targets.argmax(-1).T.tolist()
    pairs = [(until_end(own), until_end(wanted)) for own, wanted in zip(answers, right, strict=True)]
    distance = sum(normalised_distance(own, wanted) for own, wanted in pairs) / len(pairs)
    counted = (batch.mask > 0) & (batch.targets[..., END] == 0)
    wrong = float((wrong_classes(output, batch) & counted).sum())
    return {"nld": distance, "accuracy": 1.0 - wrong / max(1.0, float(counted.sum()))}


def render_exchange(batch: Batch, row: int, output: Float[Tensor, "A B O"] | None, names: Sequence[str]) -> str:
    """The tokens of each view, of the answer and, where given, of the model's."""
    assert batch.visits is not None
    visit = batch.visits[0]
    shown = {name: until_end(view[:, row].tolist()) for name, view in zip(names, visit.views, strict=True)}
    shown["target"] = until_end(batch.targets[:, row].argmax(-1).tolist())
    if output is not None:
        shown["answer"] = until_end(output[:, row].argmax(-1).tolist())
    width = max(len(name) for name in shown)
    return "\n".join(f"{name:{width}}  {' '.join(map(str, tokens))}" for name, tokens in shown.items())
