"""NTM single tasks (thesis §7.4.1): the sizes of the appendix's table "Model hyper-parameters (single tasks)"."""

from mnemon.models.catalogue import ModelConfig

NTM: dict[str, ModelConfig] = {
    "copy": ModelConfig(name="ntm", hidden=100, slots=128, word=20, heads=1),
    "repeat-copy": ModelConfig(name="ntm", hidden=100, slots=128, word=20, heads=1),
    "associative-recall": ModelConfig(name="ntm", hidden=100, slots=128, word=20, heads=1),
    "ngrams": ModelConfig(name="ntm", hidden=100, slots=128, word=20, heads=1),
    "priority-sort": ModelConfig(name="ntm", hidden=200, slots=128, word=20, heads=5),
    "long-copy": ModelConfig(name="ntm", hidden=100, slots=256, word=20, heads=1),
}

NTM_PARAMETERS: dict[str, int] = {
    "copy": 63_260,
    "repeat-copy": 63_381,
    "associative-recall": 62_218,
    "ngrams": 58_813,
    "priority-sort": 344_068,
    "long-copy": 63_260,
}
