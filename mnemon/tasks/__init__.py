"""Tasks: one a file, each with its generator, mask, loss, metrics and text rendering."""

from mnemon.tasks.associative_recall import AssociativeRecall
from mnemon.tasks.babi import Babi, babi
from mnemon.tasks.babi_questions import BabiQuestions, babi_questions
from mnemon.tasks.base import Batch, ChangingTask, CountingTask, FiniteTask, Task
from mnemon.tasks.brackets import Brackets
from mnemon.tasks.catalogue import DATA_TASKS, TASKS, DataTaskEntry, TaskEntry, find_task
from mnemon.tasks.continual import Continual, Widened
from mnemon.tasks.copy import Copy
from mnemon.tasks.dialogue import Dialogue
from mnemon.tasks.dialogue_sets import dialogue
from mnemon.tasks.documents import Documents, documents
from mnemon.tasks.guided import Guided
from mnemon.tasks.labelled import Splits
from mnemon.tasks.multi_modal import ModeCoverage, MultiModal
from mnemon.tasks.multi_query_recall import MultiQueryRecall
from mnemon.tasks.ngrams import DynamicNGrams, bayes_predictions
from mnemon.tasks.odd_even import OddEven
from mnemon.tasks.omniglot import FewShot, omniglot
from mnemon.tasks.pixels import Pixels, mnist
from mnemon.tasks.priority_sort import PrioritySort
from mnemon.tasks.repeat_copy import RepeatCopy
from mnemon.tasks.sequencing import Sequencing
from mnemon.tasks.sinusoid import Sinusoid
from mnemon.tasks.spoken import Spoken
from mnemon.tasks.sum_of_two import SumOfTwo
from mnemon.tasks.tokens import Add, Double, Max, Reverse, TokenCopy, TokenTask

__all__ = [
    "DATA_TASKS",
    "TASKS",
    "Add",
    "AssociativeRecall",
    "Babi",
    "BabiQuestions",
    "Batch",
    "Brackets",
    "ChangingTask",
    "Continual",
    "Copy",
    "CountingTask",
    "DataTaskEntry",
    "Dialogue",
    "Documents",
    "Double",
    "DynamicNGrams",
    "FewShot",
    "FiniteTask",
    "Guided",
    "Max",
    "ModeCoverage",
    "MultiModal",
    "MultiQueryRecall",
    "OddEven",
    "Pixels",
    "PrioritySort",
    "RepeatCopy",
    "Reverse",
    "Sequencing",
    "Sinusoid",
    "Splits",
    "Spoken",
    "SumOfTwo",
    "Task",
    "TaskEntry",
    "TokenCopy",
    "TokenTask",
    "Widened",
    "babi",
    "babi_questions",
    "bayes_predictions",
    "dialogue",
    "documents",
    "find_task",
    "mnist",
    "omniglot",
]
