"""Tasks: one a file, each with its generator, mask, loss, metrics and text rendering."""

from mnemon.tasks.associative_recall import AssociativeRecall
from mnemon.tasks.base import Batch, Task
from mnemon.tasks.catalogue import TASKS, TaskEntry, find_task
from mnemon.tasks.copy import Copy
from mnemon.tasks.ngrams import DynamicNGrams, bayes_predictions
from mnemon.tasks.priority_sort import PrioritySort
from mnemon.tasks.repeat_copy import RepeatCopy
from mnemon.tasks.sinusoid import Sinusoid
from mnemon.tasks.tokens import Add, Double, Max, Reverse, TokenCopy, TokenTask

__all__ = [
    "TASKS",
    "Add",
    "AssociativeRecall",
    "Batch",
    "Copy",
    "Double",
    "DynamicNGrams",
    "Max",
    "PrioritySort",
    "RepeatCopy",
    "Reverse",
    "Sinusoid",
    "Task",
    "TaskEntry",
    "TokenCopy",
    "TokenTask",
    "bayes_predictions",
    "find_task",
]
