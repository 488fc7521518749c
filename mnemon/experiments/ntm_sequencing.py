"""NTM sequencing tasks (thesis §7.4.2): the sizes of the appendix's table "Model hyper-parameters (sequencing tasks)".

C copy, RC repeat copy, AR associative recall, PS priority sort.
"""

from mnemon.experiments.ntm_single import ntm, nutm
from mnemon.models.config import ModelConfig

CHANNELS: dict[str, tuple[int, int]] = {  # of the input and the output
    "C+RC": (10, 9),
    "C+AR": (10, 8),
    "C+PS": (10, 8),
    "C+RC+AR+PS": (10, 9),
}

NTM: dict[str, ModelConfig] = {
    "C+RC": ntm(hidden=200),
    "C+AR": ntm(hidden=200),
    "C+PS": ntm(hidden=200, heads=3),
    "C+RC+AR+PS": ntm(hidden=250, heads=3),
}

NUTM: dict[str, ModelConfig] = {
    "C+RC": nutm(hidden=150, programs=3),
    "C+AR": nutm(hidden=150, programs=3),
    "C+PS": nutm(hidden=150, heads=3, programs=3),
    "C+RC+AR+PS": nutm(hidden=200, heads=3, programs=4),
}

NTM_PARAMETERS: dict[str, int] = {
    "C+RC": 206_481,
    "C+AR": 206_260,
    "C+PS": 275_564,
    "C+RC+AR+PS": 394_575,
}

NUTM_PARAMETERS: dict[str, int] = {
    "C+RC": 153_941,
    "C+AR": 153_770,
    "C+PS": 263_894,
    "C+RC+AR+PS": 448_379,
}
