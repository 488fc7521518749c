"""``mnemon chat``: talk to a trained model (thesis §5.4.2).

Letters: ``C`` words of the context, ``S`` samples.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import tyro

from mnemon.commands.runs import OpenedRun
from mnemon.data.words import split_utterance
from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.models.encoder_decoder import Concatenated, EncoderDecoder
from mnemon.models.generation import Generated, word_choice
from mnemon.tasks.exchanges import until_end
from mnemon.tasks.wording import UNKNOWN, Wording
from mnemon.training.files import read_json
from mnemon.training.seeding import batch_seed, generator_from
from mnemon.views import ViewSizes

PROMPT = "you: "


@dataclass(frozen=True, kw_only=True)
class Chat:
    """Talk to a model that was trained on dialogue; it answers each line with several samples.

    What it reads is the chat so far, as in training: your lines and the first of its answers to each. An empty line
    lets it speak without you. Lines come from the terminal or from standard input; Ctrl-D ends the talk. The same seed
    and the same lines give the same answers.

    Example: mnemon chat runs/chit-chat-vmed-0 --samples 3
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of a run on dialogue, written by mnemon train; the data are not needed."""
    samples: int = 3
    """Answers to each line."""
    temperature: float = 0.0
    """Words are drawn with it; at 0 the likeliest is taken, and answers differ by a latent variable alone."""
    top_p: float = 1.0
    """Words are drawn among the fewest that are this likely together."""
    mode: int | None = None
    """Take latent variables from this mode alone, from 0 on; by default from all of them."""
    seed: int = 0
    """Another seed gives other answers."""
    threads: int = 1
    """Threads of torch."""

    def run(self) -> None:
        """Answer line after line."""
        check_sizes(samples=self.samples, threads=self.threads)
        word_choice(temperature=self.temperature, top_p=self.top_p)  # refuses what is neither
        torch.set_num_threads(self.threads)
        speaker = Speaker.open(self.folder)
        self._answer(speaker, [""], 0)  # refuses a mode that there is none of, before anything is said
        if sys.stdin.isatty():
            print(f"{speaker.name}; an empty line lets it speak without you, Ctrl-D ends", file=sys.stderr)
        turns: list[str] = []
        for number, line in enumerate(_lines()):
            for remark in speaker.remarks(line):
                print(f"   ({remark})")
            turns.append(line)
            answers = self._answer(speaker, turns, number)
            for place, answer in enumerate(answers, start=1):
                print(f"{place}  {answer.text or '(nothing)'}{answer.behind}", flush=True)
            turns.append(answers[0].text)

    def _answer(self, speaker: "Speaker", turns: Sequence[str], number: int) -> "list[Answer]":
        context = torch.tensor(speaker.wording.context(turns))
        generated = speaker.model.generate(
            [context.unsqueeze(1).expand(-1, self.samples)],
            [torch.full((self.samples,), len(context))],
            speaker.wording.lengths.response + 1,
            temperature=self.temperature,
            top_p=self.top_p,
            mode=self.mode,
            generator=generator_from(batch_seed(self.seed, "chat", number)),
        )
        return [speaker.tell(generated, row) for row in range(self.samples)]


class Answer(NamedTuple):
    """What a model said, and what is to be known of it."""

    text: str
    behind: str  # the mode of each word, where there are several


class Speaker(NamedTuple):
    """A trained model and its words."""

    name: str
    model: EncoderDecoder | Concatenated
    wording: Wording
    modes: int  # that latent variables can come from

    @classmethod
    def open(cls, folder: Path) -> "Speaker":
        """From the folder of a run."""
        run = OpenedRun.open(folder)
        if not run.directory.task.exists():
            wanted = "write the folder of one that was, such as by mnemon train chit-chat --model vmed"
            raise UserError(f"the run in {folder} was not trained on dialogue: {wanted}")
        wording = Wording.from_json(read_json(run.directory.task), str(run.directory.task))
        tokens = len(wording.table)
        model, step = run.build(ViewSizes((tokens,), "sequence"), tokens)
        assert isinstance(model, EncoderDecoder | Concatenated)
        name = f"{run.config.name} on {run.task}, step {step:,}"
        return cls(name, model, wording, run.config.heads)

    def remarks(self, line: str) -> list[str]:
        """What of a line the model will not know."""
        words = split_utterance(line)
        longest = self.wording.lengths.context
        unknown = dict.fromkeys(word for word in words if self.wording.table.token(word) == UNKNOWN)
        return [
            *([f"of {len(words)} words it reads the last {longest}"] if len(words) > longest else []),
            *([f"unknown to it: {', '.join(unknown)}"] if unknown else []),
        ]

    def tell(self, generated: Generated, row: int) -> Answer:
        """One of the answers."""
        tokens = generated.tokens[:, row].tolist()
        if generated.modes is None or self.modes == 1:
            return Answer(self.wording.text(tokens), "")
        used = generated.modes[: len(until_end(tokens)), row].tolist()
        return Answer(self.wording.text(tokens), f"   [modes {' '.join(map(str, used))}]" if used else "")


def _lines() -> Iterator[str]:
    """What is said, line by line, until the end; bytes that are no text are shown as such."""
    if not sys.stdin.isatty():
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # a TextIOWrapper, as Python opens it
        yield from (line.rstrip("\r\n") for line in sys.stdin)
        return
    import readline  # noqa: F401 (lines can then be edited)

    while True:
        try:
            yield input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            print()
            return
