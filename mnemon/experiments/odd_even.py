"""Odd-even sequence prediction (thesis §4.5.1, Table 4.1): one controller or two, writing while decoding or not.

"After training with 4000 input-output pair of sequences, the models will be tested for the next 1000 pairs": a pair at
a time, each seen once. Layers and read heads as NOTES and the authors' program have them: one read head. Models with a
memory leave a trace, for the figure of read modes.
"""

from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.odd_even import OddEven
from mnemon.training.config import TrainConfig

TRAINING = TrainConfig(
    steps=4_000,
    batch_size=1,
    optimiser="adam",
    learning_rate=1e-3,
    clip_value=10.0,
    log_every=100,
    eval_every=1_000,
    eval_sequences=1_000,
)

THESIS: dict[str, tuple[str, float]] = {
    "Seq2Seq": ("seq2seq", 0.679),
    "Seq2Seq with attention": ("seq2seq-attention", 0.637),
    "DNC": ("dnc-single", 0.267),
    "DNC (write-protected)": ("dnc-write-protected", 0.250),
    "DC-MANN": ("dc-mann", 0.161),
    "DCw-MANN": ("dcw-mann", 0.082),
}
WITHOUT_MEMORY = ("Seq2Seq", "Seq2Seq with attention")


def sizes(model: str) -> ModelConfig:
    """Hidden 256, embedding 64, 128 slots of 128 numbers."""
    return ModelConfig(name=model, hidden=256, slots=128, word=128, heads=1, embedding=64)


def jobs() -> list[Job]:
    """Every model of the table."""
    return [
        Job(
            setting="odd-even",
            model=name,
            task=OddEven(),
            tests={"test": OddEven()},
            test="test",
            config=sizes(model),
            training=TRAINING,
            thesis=thesis,
            trace=name not in WITHOUT_MEMORY,
        )
        for name, (model, thesis) in THESIS.items()
    ]


ODD_EVEN = Experiment(
    name="odd-even",
    title="Odd-even sequence prediction",
    thesis="§4.5.1, Table 4.1",
    file="mnemon/experiments/odd_even.py",
    jobs=jobs,
    metric="nld",
    percent=False,
    better="lower",
)
