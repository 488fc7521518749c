"""NTM single tasks (thesis §7.4.1): the sizes of the appendix's table "Model hyper-parameters (single tasks)"."""

from mnemon.models.config import ModelConfig


def ntm(hidden: int = 100, slots: int = 128, heads: int = 1) -> ModelConfig:
    """An NTM with words of 20 numbers."""
    return ModelConfig(name="ntm", hidden=hidden, slots=slots, word=20, heads=heads)


def nutm(hidden: int = 80, slots: int = 128, heads: int = 1, programs: int = 2) -> ModelConfig:
    """A NUTM with words of 20 numbers, and keys of as many as it has programs."""
    return ModelConfig(
        name="nutm", hidden=hidden, slots=slots, word=20, heads=heads, programs=programs, program_key=programs
    )


NTM: dict[str, ModelConfig] = {
    "copy": ntm(),
    "repeat-copy": ntm(),
    "associative-recall": ntm(),
    "ngrams": ntm(),
    "priority-sort": ntm(hidden=200, heads=5),
    "long-copy": ntm(slots=256),
}

NUTM: dict[str, ModelConfig] = {
    "copy": nutm(),
    "repeat-copy": nutm(),
    "associative-recall": nutm(),
    "ngrams": nutm(),
    "priority-sort": nutm(hidden=150, heads=5),
    "long-copy": nutm(slots=256),
}

NTM_PARAMETERS: dict[str, int] = {
    "copy": 63_260,
    "repeat-copy": 63_381,
    "associative-recall": 62_218,
    "ngrams": 58_813,
    "priority-sort": 344_068,
    "long-copy": 63_260,
}

NUTM_PARAMETERS: dict[str, int] = {
    "copy": 52_206,
    "repeat-copy": 52_307,
    "associative-recall": 51_364,
    "ngrams": 48_619,
    "priority-sort": 302_398,
    "long-copy": 52_206,
}
