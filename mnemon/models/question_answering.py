"""The memory networks by name: models that read a story and a question about it (thesis §3.3.2)."""

from collections.abc import Callable

from torch import nn

from mnemon.errors import UserError
from mnemon.models.config import ModelConfig, ModelEntry
from mnemon.models.key_value import KeyValueMemoryNetwork
from mnemon.models.memory_network import MemN2N, Tying
from mnemon.models.supporting_facts import MemNN, answers_beside
from mnemon.views import ViewSizes

HOPS = 3  # where no number is asked for


def _words(config: ModelConfig, sizes: ViewSizes) -> int:
    """Those of the story, which are those of the question."""
    if len(sizes.views) != 2 or sizes.views[0] != sizes.views[1] or sizes.answer != "sequence":
        raise UserError(
            f"model {config.name!r} reads a story and a question in the same words, which this task has not:"
            " write task babi-questions"
        )
    return sizes.views[0]


def _memn2n(config: ModelConfig, sizes: ViewSizes, output_size: int, tying: Tying = "adjacent") -> nn.Module:
    return MemN2N(
        _words(config, sizes),
        config.hidden,
        output_size,
        slots=config.slots,
        hops=config.hops or HOPS,
        tying=tying,
        linear_start=config.linear_start or 0.0,
    )


def _layer_wise(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return _memn2n(config, sizes, output_size, "layer-wise")


def _key_value(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    words, hops = _words(config, sizes), config.hops or HOPS
    return KeyValueMemoryNetwork(words, config.hidden, output_size, slots=config.slots, hops=hops)


def _memnn(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    answers = answers_beside(output_size, config.slots)
    return MemNN(_words(config, sizes), config.hidden, answers, slots=config.slots)


def _entry(
    summary: str,
    file: str,
    build: Callable[[ModelConfig, ViewSizes, int], nn.Module],
    *,
    has_hops: bool = True,
    starts_linear: bool = False,
) -> ModelEntry:
    return ModelEntry(
        summary,
        "§3.3.2",
        f"mnemon/models/{file}.py",
        build,
        reads_views=True,
        has_embedding=False,
        has_layers=False,
        has_hops=has_hops,
        starts_linear=starts_linear,
    )


MEMORY_NETWORKS: dict[str, ModelEntry] = {
    "memnn": _entry("Memory network that names supporting facts", "supporting_facts", _memnn, has_hops=False),
    "memn2n": _entry("End-to-end memory network", "memory_network", _memn2n, starts_linear=True),
    "memn2n-layer-wise": _entry(
        "The same, all hops with the same weights", "memory_network", _layer_wise, starts_linear=True
    ),
    "kv-memn2n": _entry("Key-value memory network", "key_value", _key_value),
}
