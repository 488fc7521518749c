"""One step of a memory network as a program of its own, for streams without end: the loop is the caller's.

A step takes an input and the tensors of a state, and gives an output and the tensors of the next one. Exported, it runs
where mnemon is not installed: as ``torch.export``'s program, or as ONNX in any runtime. What is kept between two steps
is the state alone, so memory does not grow with time.

Letters: ``B`` batch, ``I`` inputs, ``O`` outputs.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.cell import CellState, MemoryCell
from mnemon.errors import UserError
from mnemon.state import map_state


class Step(nn.Module):
    """A cell whose state is a list of tensors with names, such as ``memory.reads``."""

    def __init__(self, cell: MemoryCell) -> None:
        super().__init__()
        self.cell = cell
        self.names = tuple(_names(cell.init_state(1)))

    def forward(self, inputs: Float[Tensor, "B I"], *state: Tensor) -> tuple[Tensor, ...]:
        """The output, and then the tensors of the next state."""
        parts = iter(state)
        nested = map_state(lambda _: next(parts), self.cell.init_state(1))
        output, after = self.cell(inputs, nested)
        return (output, *_tensors(after))

    def init_state(self, batch: int) -> tuple[Tensor, ...]:
        """What the first step is given."""
        return tuple(part.detach().clone() for part in _tensors(self.cell.init_state(batch)))


def export_step(cell: MemoryCell) -> torch.export.ExportedProgram:
    """A step for any number of rows."""
    step = Step(cell).eval()
    for parameter in step.parameters():
        parameter.requires_grad_(False)
    batch = torch.export.Dim("batch", min=1)
    example = (torch.zeros(2, cell.input_size, dtype=cell.controller.weight_ih.dtype), *step.init_state(2))
    rows = {0: batch}
    return torch.export.export(step, example, dynamic_shapes=(rows, tuple(rows for _ in step.names)))


def write_onnx(cell: MemoryCell, path: Path) -> None:
    """A step as ONNX: inputs ``input`` and ``state.NAME``, outputs ``output`` and ``next.NAME``."""
    try:
        import onnxscript
    except ImportError as error:
        raise UserError(f"ONNX needs {error.name}: pip install 'mnemon[export]'") from error
    onnx: Any = onnxscript.opset18  # whose types are of ONNX's own language

    def stable_sort(values: Any, *, stable: bool, dim: int = -1, descending: bool = False) -> Any:  # noqa: ARG001
        """Torch's exporter has none; ONNX's TopK has the lower index first where values are equal."""
        count = onnx.Gather(onnx.Shape(values), onnx.Constant(value_ints=[dim]))
        return onnx.TopK(values, count, axis=dim, largest=int(descending), sorted=1)

    names = Step(cell).names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about its own functions
        program = torch.onnx.export(
            export_step(cell),
            input_names=["input", *(f"state.{name}" for name in names)],
            output_names=["output", *(f"next.{name}" for name in names)],
            dynamo=True,
            verbose=False,
            custom_translation_table={torch.ops.aten.sort.stable: stable_sort},
        )
    assert program is not None
    program.save(str(path))


def _tensors(state: Any) -> Iterator[Tensor]:
    if isinstance(state, Tensor):
        yield state
    else:
        for part in state:
            yield from _tensors(part)


def _names(state: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(state, Tensor):
        yield prefix
    else:
        fields = getattr(state, "_fields", None) or [str(number) for number in range(len(state))]
        for field, part in zip(fields, state, strict=True):
            yield from _names(part, f"{prefix}.{field}" if prefix else field)


def name_state(state: CellState) -> dict[str, Tensor]:
    """The tensors of a state by the names that exported steps have for them."""
    return dict(zip(_names(state), _tensors(state), strict=True))
