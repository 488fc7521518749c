"""One row of a batch as text: a line for each channel, a column for each step.

A bit is ``█`` or ``·``, a wrong answer ``×``. A channel of other numbers is drawn as levels ``▁`` to ``█``,
with their range beside it. Tokens are written out. ``▲`` marks the steps where an answer is asked; only there are
targets drawn::

    asked          ····▲▲
    input   bit 1  ·█····
            bit 2  ·██···
            start  █·····
            end    ···█··
    target  bit 1      █·
            bit 2      ██
    answer  bit 1      █·
            bit 2      █×
    1 of 4 bits wrong

Letters: ``T`` time, ``B`` batch, ``C`` channels, ``O`` output channels.
"""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.scoring import number_loss, wrong_bits, wrong_classes

LEVELS = "▁▂▃▄▅▆▇█"


def bit_names(bits: int) -> tuple[str, ...]:
    """The names of the channels that carry an item."""
    return tuple(f"bit {number}" for number in range(1, bits + 1))


def render_bits(
    batch: Batch,
    row: int,
    output: Float[Tensor, "T B O"] | None,
    *,
    input_channels: Sequence[str],
    output_channels: Sequence[str],
) -> str:
    """Draw inputs, targets and, where ``output`` is given, the thresholded answer with its errors."""
    asked = asked_steps(batch, row)
    targets = [_blank_unasked(line, asked) for line in _draw(batch.targets[:, row])]
    sections = [("input", input_channels, _draw(batch.inputs[:, row])), ("target", output_channels, targets)]
    footer = []
    if output is not None:
        wrong = wrong_bits(output, batch)[:, row]
        answers = _draw((output[:, row] > 0).float())
        marked = [
            _blank_unasked(_mark(line, errors), asked) for line, errors in zip(answers, wrong.T.tolist(), strict=True)
        ]
        sections.append(("answer", output_channels, marked))
        footer.append(f"{int(wrong.sum())} of {sum(asked) * len(output_channels)} bits wrong")
    return _lay_out(asked, sections, footer)


def render_tokens(batch: Batch, row: int, output: Float[Tensor, "T B O"] | None) -> str:
    """Write out one-hot tokens, with ``·`` for no input and ``×`` for a wrong answer."""
    asked = asked_steps(batch, row)
    shown = [step > 0 for step in batch.inputs[:, row].sum(-1).tolist()]
    lines = {
        "input": _write(batch.inputs[:, row], shown, "·"),
        "target": _write(batch.targets[:, row], asked, ""),
    }
    footer = []
    if output is not None:
        wrong = wrong_classes(output, batch)[:, row].tolist()
        answers = _write(output[:, row], asked, "")
        lines["answer"] = ["×" if error else token for token, error in zip(answers, wrong, strict=True)]
        footer.append(f"{sum(wrong)} of {sum(asked)} tokens wrong")
    largest = max(batch.inputs.shape[-1], batch.targets.shape[-1]) - 1
    width = 1 if largest < 10 else len(str(largest)) + 1
    sections = [
        (title, ["token"], ["".join(token.rjust(width) for token in tokens)]) for title, tokens in lines.items()
    ]
    return _lay_out(asked, sections, footer, width)


def render_numbers(batch: Batch, row: int, output: Float[Tensor, "T B O"] | None, *, channels: Sequence[str]) -> str:
    """Draw numbers as levels, inputs and outputs having the same channels."""
    asked = asked_steps(batch, row)
    unasked = (batch.mask[:, row] == 0).unsqueeze(-1)
    sections = [
        ("input", channels, _draw(batch.inputs[:, row])),
        ("target", channels, _draw(batch.targets[:, row].masked_fill(unasked, 0))),
    ]
    footer = []
    if output is not None:
        sections.append(("answer", channels, _draw(output[:, row].masked_fill(unasked, 0))))
        alone = batch.every(batch.mask.shape[1], row)
        footer.append(f"mean squared error {float(number_loss(output[:, row : row + 1], alone)):.4g}")
    return _lay_out(asked, sections, footer)


def asked_steps(batch: Batch, row: int) -> list[bool]:
    """At which steps a row is asked something."""
    rows = batch.mask.shape[1]
    if not 0 <= row < rows:
        raise UserError(f"row={row} is outside a batch of {rows}: write a row from 0 to {rows - 1}")
    return [step > 0 for step in batch.mask[:, row].tolist()]


def _lay_out(
    asked: Sequence[bool],
    sections: Sequence[tuple[str, Sequence[str], Sequence[str]]],
    footer: Sequence[str],
    step_width: int = 1,
) -> str:
    """The steps asked, then a line for each channel of each section: its title, the channel's name, the drawing."""
    width = max(len(name) for _, names, _ in sections for name in names)
    steps = "".join(("▲" if step else "·").rjust(step_width) for step in asked)
    body = [
        f"{'' if index else title:<8}{name:<{width}}  {line}".rstrip()
        for title, names, lines in sections
        for index, (name, line) in enumerate(zip(names, lines, strict=True))
    ]
    return "\n".join([f"{'asked':<8}{'':<{width}}  {steps}", *body, *footer])


def _write(values: Float[Tensor, "T C"], present: Sequence[bool], absent: str) -> list[str]:
    """The token of each step, the channel with the largest value."""
    tokens = values.argmax(-1).tolist()
    return [str(token) if there else absent for token, there in zip(tokens, present, strict=True)]


def _draw(values: Float[Tensor, "T C"]) -> list[str]:
    """A line for each channel."""
    return [_draw_channel(channel) for channel in values.T.tolist()]


def _draw_channel(values: list[float]) -> str:
    if all(value in (0.0, 1.0) for value in values):
        return "".join("█" if value else "·" for value in values)
    present = [value for value in values if value]
    low, high = min(present), max(present)
    span = f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"
    return "".join(_level(value, low, high) if value else "·" for value in values) + f"  {span}"


def _level(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 1.0
    return LEVELS[round(share * (len(LEVELS) - 1))]


def _mark(line: str, errors: list[bool]) -> str:
    return "".join("×" if error else bit for bit, error in zip(line, errors, strict=True))


def _blank_unasked(line: str, asked: list[bool]) -> str:
    return "".join(bit if step else " " for bit, step in zip(line, asked, strict=True))
