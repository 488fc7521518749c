"""What the experiments of chapter 6 share: the models by their names in its tables, and the training.

The writing policies are those of §6.4: regular writes at every step; uniform (UW) at equal intervals; cached (CUW) at
equal intervals, with attention over the states in between; random (RW) at random steps, as often on average as UW.

Uniform writing is as printed, every ⌊T/(D+1)⌋ steps, T being those of the sequence that is read, and goes on while the
answer is given. The authors' program writes at every step of the answer, and so trained uniform writing does not come
near the thesis's values (docs/writing.md). Of sinusoids the thesis says that it does so too: these pass ``encoded``.

Models of synthetic tasks are tested a hundred times, and the test counts after which step the loss was lowest: that of
the validation set where there is one, else that of the test itself, with the last test beside it, so that a run that
diverges later shows it. So does the authors' program, by accuracy; like it we clip each parameter's gradient by itself.
The thesis fixes the bound at 10, of a loss whose scale it does not say. Of the mean loss of a token a bound of 1, the
least that it tries in §6.5.1, makes training faster and steadier (docs/writing.md).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from mnemon.models.config import ModelConfig
from mnemon.runner.job import Job, Reading
from mnemon.runner.sources import DataTask
from mnemon.tasks.base import Task
from mnemon.training.config import TrainConfig

Writing = Literal["regular", "uniform", "cached", "random"]

# §6.5.1 and §6.5.2: batch 64, 10,000 iterations, Adam 1e-3
TRAINING = TrainConfig(
    steps=10_000,
    batch_size=64,
    optimiser="adam",
    learning_rate=1e-3,
    clip_value=None,
    clip_each=1.0,
    log_every=200,
    eval_every=100,
    eval_sequences=320,
    checkpoint_every=500,
)


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model as the tables name it. ``cache`` is the number of states that CUW attends to, the thesis's L."""

    name: str
    base: Literal["no-memory", "ntm", "dnc"]
    writing: Writing = "regular"
    controller: str = "layer-norm-lstm"
    hidden: int = 100
    cache: int = 5
    parameters: int | None = None  # by the thesis's count


# §6.5.2: sizes of the controller are chosen so that the models are about equally large
LSTM = Model(name="LSTM", base="no-memory", hidden=125, parameters=103_840)
NTM = Model(name="NTM", base="ntm", parameters=99_112)
DNC = Model(name="DNC", base="dnc", parameters=98_840)
RW = Model(name="DNC+RW", base="dnc", writing="random", parameters=98_840)
UW = Model(name="DNC+UW", base="dnc", writing="uniform", parameters=98_840)
CUW = Model(name="DNC+CUW", base="dnc", writing="cached", hidden=95, parameters=96_120)


def model_config(model: Model, *, slots: int, length: int, word: int = 64, encoded: int | None = None) -> ModelConfig:
    """The config of a model for sequences that take ``length`` steps to read, or do so on average.

    After ``encoded`` steps every step writes; without it, writing goes on at its interval.
    """
    uniform = max(1, length // (slots + 1))
    intervals = {"cached": model.cache, "uniform": uniform, "random": uniform}
    return ModelConfig(
        name=model.base,
        controller=model.controller,
        hidden=model.hidden,
        slots=slots,
        word=word,
        heads=1,
        biases=False,
        learned_start="memory" if model.base == "ntm" else None,  # this and the biases by the thesis's counts
        writing=model.writing,
        interval=intervals.get(model.writing),
        encoded=None if model.writing == "regular" else encoded,
    )


def jobs_of_setting(
    setting: str,
    task: Task | DataTask,
    models: Iterable[Model],
    *,
    slots: int,
    length: int,
    encoded: int | None = None,  # steps after which every step writes
    thesis: Mapping[str, float] | None = None,
    training: TrainConfig = TRAINING,
    counts: bool = True,  # whether the thesis counts the parameters of this task
    trace: bool = False,
) -> list[Job]:
    """One job for each model; tested on what it was trained on, as in the thesis."""
    watched = "validation" if isinstance(task, DataTask) else "test"
    return [
        Job(
            setting=setting,
            model=model.name,
            task=task,
            tests={} if isinstance(task, DataTask) else {"test": task},
            test="test",
            config=model_config(model, slots=slots, length=length, encoded=encoded),
            training=training,
            thesis_parameters=model.parameters if counts else None,
            trace=trace,
            readings=[
                Reading(setting=setting, thesis=(thesis or {}).get(model.name), chosen_by=watched),
                *([Reading(setting=f"{setting}, last test")] if watched == "test" else []),
            ],
        )
        for model in models
    ]
