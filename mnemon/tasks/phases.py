"""The phases of a sequence: what each step is for, in words."""

from mnemon.tasks.base import Batch, Task
from mnemon.tasks.rendering import asked_steps
from mnemon.tasks.sequencing import Sequencing


def phases(task: Task, batch: Batch, row: int = 0) -> list[str]:
    """``input`` or ``answer`` for each step of a row and, in a sequence of tasks, of which: ``copy, answer``."""
    kinds = ["answer" if asked else "input" for asked in asked_steps(batch, row)]
    if batch.subtasks is None or not isinstance(task, Sequencing):
        return kinds
    return [
        "order" if number < 0 else f"{task.names[number]}, {kind}"
        for number, kind in zip(batch.subtasks.tolist(), kinds, strict=True)
    ]
