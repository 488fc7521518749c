"""The compiled kernels, called through a plain C interface (src/kernels.cpp)."""

import ctypes
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import Tensor

# Beside this file; or, of an editable install, where its compiled part goes.
PLACES = (Path(__file__).parent, Path(sysconfig.get_path("platlib")) / "mnemon" / "native")
SUFFIX = {torch.float32: "f32", torch.float64: "f64"}


class Config(ctypes.Structure):
    """The sizes of a cell and of a call: the fields of Config in src/config.hpp, in their order."""

    _fields_ = [
        *(
            (name, ctypes.c_int32)
            for name in (
                *("steps", "batch", "input", "hidden", "preactivations", "interface"),
                *("slots", "word", "reads", "writes", "shift_reach"),
                *("read_first", "links", "masked_lookup", "erase_freed", "sharp_links", "strengths"),
                *("own_first", "own_end", "parts", "controllers"),
                *("programs", "stores", "key", "squashed_keys", "drawn", "normalised"),
                *("cached", "attention"),
                *("checkpoint_every", "threads", "keep_records"),
            )
        ),
        *((name, ctypes.c_double) for name in ("clip", "decay", "temperature")),
    ]


def _pointers(*names: str) -> list[tuple[str, type[ctypes.c_void_p]]]:
    return [(name, ctypes.c_void_p) for name in names]


class ForwardCall(ctypes.Structure):
    """The tensors of a forward call: Forward in src/config.hpp."""

    _fields_ = [
        *_pointers("inputs", "from_inputs", "from_hidden", "bias", "interface", "interface_bias", "extra"),
        *_pointers("keys", "attention", "cache", "ends", "noise"),
        *_pointers("state", "lengths", "schedule"),
        *_pointers("features", "final_state", "records", "memory_records", "checkpoints", "recalled"),
    ]


class BackwardCall(ctypes.Structure):
    """The tensors of a backward call: Backward in src/config.hpp."""

    _fields_ = [
        *_pointers("dfeatures", "dfinal_state", "dpreactivations", "dinterface"),
        *_pointers("dextra", "dkeys", "dattention", "dcache", "dstate"),
    ]


class StepCall(ctypes.Structure):
    """The tensors of a memory's step: StepCall in src/memory_step.hpp."""

    _fields_ = [*_pointers("vectors", "state", "final_state"), ("write", ctypes.c_int64)]


class StepBackwardCall(ctypes.Structure):
    """The tensors of its backward call: StepBackward in src/memory_step.hpp."""

    _fields_ = _pointers("dfinal_state", "dvectors", "dstate")


# What a build for this machine has is the last; a portable one has all, with what each needs of the processor
# (CMakeLists.txt has the flags). The first that runs is the fastest.
VARIANTS: dict[str, set[str]] = {
    "libmnemon_avx512.so": {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"},
    "libmnemon_avx2.so": {"avx2", "fma"},
    "libmnemon.so": set(),
}


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    """What the processor can do, as Linux has it; nothing where nobody says."""
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return {flag for line in lines if line.startswith("flags") for flag in line.partition(":")[2].split()}


def find(flags: set[str], places: Iterable[Path] = PLACES) -> Path | None:
    """The library for a processor that can do this."""
    names = [name for name, needs in VARIANTS.items() if needs <= flags]
    return next((place / name for place in places for name in names if (place / name).exists()), None)


def _load() -> ctypes.CDLL | None:
    path = find(processor_flags())
    try:
        return None if path is None else ctypes.CDLL(str(path))
    except OSError:  # built for a system with other libraries
        return None


LIBRARY = _load()  # None where the package was installed without a compiler


def call(kernel: str, what: str, dtype: torch.dtype, config: Config, *calls: ctypes.Structure) -> None:
    """Run ``what`` (forward or backward) of a kernel such as ``lstm_ntm``."""
    function = getattr(LIBRARY, f"mnemon_{kernel}_{what}_{SUFFIX[dtype]}")
    function(ctypes.byref(config), *map(ctypes.byref, calls))


def workspace_sizes(kernel: str, dtype: torch.dtype, config: Config) -> tuple[int, int, int]:
    """Numbers in a record of the controller, in a record of the memory, and in the memory's content."""
    sizes = (ctypes.c_long * 3)()
    getattr(LIBRARY, f"mnemon_{kernel}_sizes_{SUFFIX[dtype]}")(ctypes.byref(config), sizes)
    return sizes[0], sizes[1], sizes[2]


def pointer(tensor: Tensor | None) -> int | None:
    """Where a tensor's numbers start."""
    return None if tensor is None else tensor.data_ptr()


def pointers(tensors: list[Tensor]) -> ctypes.c_void_p:
    """Where a list of their addresses starts."""
    return ctypes.cast((ctypes.c_void_p * len(tensors))(*map(pointer, tensors)), ctypes.c_void_p)
