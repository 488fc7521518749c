"""``mnemon bench``: time and memory of a step, engines side by side in one run.

Rounds are interleaved, A B C A B C …, and medians are taken, because machines are noisy: a ratio between two rows of a
run means something, a time of its own little.
"""

import contextlib
import ctypes
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mnemon.cell import MemoryCell
from mnemon.commands.console import table_console
from mnemon.controllers import Controller, LayerNormLSTMController, LSTMController
from mnemon.errors import UserError, look_up
from mnemon.interface import Interface, LinearInterface
from mnemon.memory import DNCMemory, LRUAMemory, NTMMemory
from mnemon.memory.base import Memory
from mnemon.models.baseline import LSTMBaseline
from mnemon.native import pool
from mnemon.programs import StoredProgramInterface
from mnemon.rnn import MANN
from mnemon.training.versions import provenance
from mnemon.writing import CachedUniformWriting, RegularWriting, UniformWriting, Writing

CHANNELS = 10


class Workload(NamedTuple):
    """A cell and the sequences it runs on."""

    memory: Callable[[], Memory[Any, Any]]
    batch: int
    steps: int
    hidden: int = 100
    controller: Callable[[int, int], Controller[Any]] = LSTMController
    writing: Callable[[], Writing[Any]] = RegularWriting
    interface: Callable[[], Interface] = LinearInterface


# dnc-tokens is the DNC of chapter 6
WORKLOADS: dict[str, Workload] = {
    "dnc-small": Workload(lambda: DNCMemory(16, 16, 1), batch=64, steps=100),
    "dnc-tokens": Workload(lambda: DNCMemory(4, 64, 1), batch=64, steps=100, controller=LayerNormLSTMController),
    "dnc-medium": Workload(lambda: DNCMemory(128, 32, 4), batch=16, steps=60),
    "dnc-large": Workload(lambda: DNCMemory(196, 64, 4), batch=32, steps=100),
    "dnc-nolink": Workload(lambda: DNCMemory(196, 64, 4, links=False), batch=32, steps=100),
    "ntm": Workload(lambda: NTMMemory(128, 20), batch=16, steps=41),
    "lrua": Workload(lambda: LRUAMemory(128, 40, 4), batch=16, steps=50, hidden=200),
}

# What a workload becomes with another writing policy, or with stored programs.
VARIANTS: dict[str, Callable[[Workload], Workload]] = {
    "plain": lambda plain: plain,
    "uniform writing, interval 10": lambda plain: plain._replace(writing=lambda: UniformWriting(10)),
    "cached uniform writing, interval 10": lambda plain: plain._replace(writing=lambda: CachedUniformWriting(10)),
    "2 stored programs": lambda plain: plain._replace(interface=lambda: StoredProgramInterface(2, 2)),
    "4 stored programs": lambda plain: plain._replace(interface=lambda: StoredProgramInterface(4, 4)),
}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Measure a training step and an inference pass: native and reference engine, nn.LSTM, and other packages.

    Example: mnemon bench --workloads ntm dnc-small --rounds 21
    """

    workloads: tuple[str, ...] = tuple(WORKLOADS)
    """Which cells to measure."""
    rounds: int = 7
    """How often each contender runs; medians are taken."""
    threads: int = 2
    """Threads for all of them."""
    peers: bool = False
    """Also the PyPI package `dnc`, where it is installed."""
    compiled: bool = False
    """Also the reference under torch.compile, step by step; compiling takes about a minute for each workload."""
    variants: bool = False
    """Also the same cells with uniform and cached uniform writing and with stored programs, native."""
    growth: bool = False
    """Also how time and memory grow with the length, the slots and the batch."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self) -> None:
        """Measure and print."""
        if self.rounds < 1 or self.threads < 1:
            raise UserError("rounds and threads must be at least 1")
        for name in self.workloads:
            look_up(WORKLOADS, name, "workload")
        torch.set_num_threads(self.threads)
        facts = provenance()
        rows = [row for name in self.workloads for row in self._measure(name)]
        hardware = {name: facts[name] for name in ("cpu", "cores", "threads", "platform")}
        versions = {name: facts[name] for name in ("mnemon", "torch", "python")}
        rate = _multiplication_rate()
        document = {
            "hardware": hardware | {"matmul_gfma": round(rate, 1)},
            "versions": versions,
            "rows": [row | {"fma_share": _share(row, rate)} for row in rows],
            "streaming": [_streaming(name) for name in self.workloads],
            "variants": self._variants(),
            "growth": self._growth(),
        }
        if self.json:
            print(json.dumps(document, indent=2))
        else:
            _print_tables(
                {
                    f"engines; fma_share: of {rate:.0f} G multiply-adds a second, as in a product by torch": document[
                        "rows"
                    ],
                    "one sample, step after step, native, one thread": document["streaming"],
                    "variants of a cell, native; share: of the time of the plain cell's training step": document[
                        "variants"
                    ],
                    "growth of the native engine, DNC without links": document["growth"],
                }
            )

    def _measure(self, name: str) -> list[dict[str, Any]]:
        workload = WORKLOADS[name]
        inputs = torch.randn(workload.steps, workload.batch, CHANNELS)
        contenders = self._contenders(workload)
        train = {engine: _training_step(model, inputs) for engine, model in contenders.items()}
        infer = {engine: _inference(model, inputs) for engine, model in contenders.items()}
        peaks = {engine: _peak_megabytes(step) for engine, step in train.items()}
        train_times, infer_times = _interleaved(train, self.rounds), _interleaved(infer, self.rounds)
        return [
            {
                "workload": name,
                "engine": engine,
                "train_ms": round(statistics.median(train_times[engine]), 3),
                "infer_ms": round(statistics.median(infer_times[engine]), 3),
                "peak_mb": round(peaks[engine], 1),
                "spread": round(_spread(train_times[engine]), 3),
            }
            for engine in contenders
        ]

    def _contenders(self, workload: Workload) -> dict[str, nn.Module]:
        native, reference = _network(workload), _network(workload)
        native.engine, reference.engine = "native", "reference"
        contenders: dict[str, nn.Module] = {"native": native, "reference": reference}
        if self.compiled:
            compiled = _network(workload)
            compiled.engine = "reference"
            compiled.cell.step = torch.compile(compiled.cell.step)  # type: ignore[method-assign]
            contenders["compiled"] = compiled
        contenders["nn.LSTM"] = LSTMBaseline(CHANNELS, workload.hidden, CHANNELS)
        memory = workload.memory()
        if self.peers and isinstance(memory, DNCMemory) and memory.links:
            contenders["dnc (PyPI)"] = _PeerDNC(memory, workload.hidden)
        return contenders

    def _variants(self) -> list[dict[str, Any]]:
        """Training steps of the plain cell and its variants, side by side."""
        if not self.variants:
            return []
        rows = []
        for name in self.workloads:
            workload = WORKLOADS[name]
            inputs = torch.randn(workload.steps, workload.batch, CHANNELS)
            steps = {name: _training_step(_network(vary(workload)), inputs) for name, vary in VARIANTS.items()}
            times = _interleaved(steps, self.rounds)
            plain = statistics.median(times["plain"])
            for variant, taken in times.items():
                middle = statistics.median(taken)
                rows.append(
                    {
                        "workload": name,
                        "variant": variant,
                        "train_ms": round(middle, 3),
                        "share": round(middle / plain, 3),
                        "spread": round(_spread(taken), 3),
                    }
                )
        return rows

    def _growth(self) -> list[dict[str, Any]]:
        """Native times and peaks as one size grows, the others fixed."""
        if not self.growth:
            return []
        rows = []
        for what, sizes in {
            "steps": (100, 1_000, 10_000),
            "slots": (256, 1_024, 4_096),
            "batch": (4, 16, 64),
        }.items():
            for size in sizes:
                chosen = {"steps": 50, "slots": 64, "batch": 8} | {what: size}
                workload = Workload(
                    partial(DNCMemory, chosen["slots"], 16, 1, links=False),
                    batch=chosen["batch"],
                    steps=chosen["steps"],
                )
                model, inputs = _network(workload), torch.randn(workload.steps, workload.batch, CHANNELS)
                train, infer = _training_step(model, inputs), _inference(model, inputs)
                peaks = _peak_megabytes(train), _peak_megabytes(infer)
                times = _interleaved({"train": train, "infer": infer}, 3)
                rows.append(
                    {
                        "grows": what,
                        "size": size,
                        "train_ms": round(statistics.median(times["train"]), 2),
                        "infer_ms": round(statistics.median(times["infer"]), 2),
                        "train_peak_mb": round(peaks[0], 1),
                        "infer_peak_mb": round(peaks[1], 1),
                    }
                )
        return rows


def _network(workload: Workload) -> MANN:
    controller = workload.controller(CHANNELS, workload.hidden)
    interface, writing = workload.interface(), workload.writing()
    return MANN(MemoryCell(controller, workload.memory(), output_size=CHANNELS, interface=interface, writing=writing))


class _PeerDNC(nn.Module):
    """The PyPI package ``dnc``, with the same sizes and a read-out."""

    def __init__(self, memory: DNCMemory, hidden: int) -> None:
        super().__init__()
        if importlib.util.find_spec("dnc") is None:
            raise UserError("the package dnc is not installed: pip install -c constraints.txt --no-deps dnc")
        from dnc import DNC

        self.rnn = DNC(
            input_size=CHANNELS,
            hidden_size=hidden,
            nr_cells=memory.slots,
            cell_size=memory.word,
            read_heads=memory.reads,
            batch_first=False,
        )
        self.readout = nn.LazyLinear(CHANNELS)

    def forward(self, inputs: Tensor) -> tuple[Tensor, None]:
        """Run from a fresh state."""
        output, _ = self.rnn(inputs, (None, None, None), reset_experience=True)
        return self.readout(output), None


def _training_step(model: nn.Module, inputs: Tensor) -> Callable[[], None]:
    model(inputs)  # makes lazy parameters
    optimiser = torch.optim.Adam(model.parameters(), fused=True)

    def step() -> None:
        optimiser.zero_grad()
        output, _ = model(inputs)
        output.square().mean().backward()
        optimiser.step()

    step()
    return step


def _inference(model: nn.Module, inputs: Tensor) -> Callable[[], None]:
    def step() -> None:
        with torch.no_grad():
            model(inputs)

    step()
    return step


def _interleaved(steps: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each contender in each round."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            began = time.perf_counter()
            step()
            times[name].append(1000 * (time.perf_counter() - began))
    return times


def _spread(times: list[float]) -> float:
    """Half the middle of the times, as a share of the median: the interquartile range."""
    if len(times) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(times, n=4)
    return (high - low) / middle


def _peak_megabytes(step: Callable[[], None]) -> float:
    """How far the process's memory rises above where it stands while a step runs (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        pool.clear()
        ctypes.CDLL(None).malloc_trim(0)  # hand back what earlier steps left, or it would be used again unseen
        before = _status("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # forget the highest so far
        step()
        return (_status("VmHWM") - before) / 1024
    return float("nan")


def _status(field: str) -> int:
    """Kilobytes, as the kernel counts them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _multiplication_rate() -> float:
    """Billions of multiply-adds a second in a large matrix product: what the machine can do, in practice."""
    left, right = torch.randn(1024, 1024), torch.randn(1024, 1024)

    def multiply() -> None:
        left @ right

    return 1024**3 / 1e6 / min(_interleaved({"product": multiply}, 11)["product"])


def _multiplications(workload: Workload) -> float:
    """Multiply-adds of a training step of the cell: matrix products and passes over memory, thrice for the way back."""
    memory = workload.memory()
    slots, word, reads = memory.slots, memory.word, memory.reads
    controller = 4 * workload.hidden * (CHANNELS + workload.hidden + memory.read_size)
    matrices = controller + workload.hidden * memory.interface_size
    over_memory, over_links = 0, 0  # look-ups, reads, erasing and adding, lengths of the slots
    if isinstance(memory, DNCMemory):
        over_memory, over_links = (reads + 1) + reads + 2 + 1, (2 * reads + 2) if memory.links else 0
    elif isinstance(memory, NTMMemory):
        over_memory = (reads + memory.writes) + reads + 2 * memory.writes + 1
    elif isinstance(memory, LRUAMemory):
        over_memory = reads + reads + reads + 1
    step = matrices + over_memory * slots * word + over_links * slots * slots
    return 3.0 * workload.steps * workload.batch * step


def _share(row: dict[str, Any], rate: float) -> float | None:
    """How much of the machine's rate a training step of the native engine reaches."""
    if row["engine"] != "native":
        return None
    milliseconds: float = row["train_ms"]
    return round(_multiplications(WORKLOADS[row["workload"]]) / 1e6 / milliseconds / rate, 3)


def _streaming(name: str) -> dict[str, Any]:
    """Microseconds a step for a single sequence of a thousand."""
    workload = WORKLOADS[name]._replace(batch=1, steps=1_000)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    run = _inference(_network(workload), torch.randn(workload.steps, 1, CHANNELS))
    times = _interleaved({"native": run}, 11)["native"]
    torch.set_num_threads(threads)
    return {"workload": name, "us_per_step": round(statistics.median(times), 2), "spread": round(_spread(times), 3)}


def _print_tables(tables: dict[str, Any]) -> None:
    from rich.table import Table

    for title, rows in tables.items():
        if rows:
            table = Table(*rows[0], title=title, title_justify="left")
            for row in rows:
                table.add_row(*("–" if value is None else str(value) for value in row.values()))
            table_console().print(table)
