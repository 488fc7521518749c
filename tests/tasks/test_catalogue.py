from pathlib import Path

import pytest

import mnemon
from mnemon.data.documents import DOCUMENT_SETS
from mnemon.errors import UserError
from mnemon.tasks import (
    DATA_TASKS,
    TASKS,
    Add,
    AssociativeRecall,
    Brackets,
    Continual,
    Copy,
    Double,
    DynamicNGrams,
    Max,
    ModeCoverage,
    MultiModal,
    MultiQueryRecall,
    OddEven,
    Pixels,
    PrioritySort,
    RepeatCopy,
    Reverse,
    Sequencing,
    Sinusoid,
    SumOfTwo,
    Task,
    TaskEntry,
    TokenCopy,
    Widened,
    find_task,
)
from tests.data.tiny_data import write_mnist
from tests.data.tiny_talk import write_chit_chat, write_self_dialogue

CONTINUAL = tuple(
    Widened(task=task, input_size=10, output_size=9)
    for task in (
        Copy(min_length=1, max_length=10),
        RepeatCopy(min_length=1, max_length=5, min_repeats=1, max_repeats=5, count_range=(1, 5)),
        AssociativeRecall(bits=6, item_length=3, min_items=2, max_items=3),
        PrioritySort(items=10, sorted_items=8),
    )
)
THESIS: dict[str, tuple[Task, str, Task]] = {
    "copy": (
        Copy(bits=8, min_length=1, max_length=20),
        "length 120",
        Copy(bits=8, min_length=120, max_length=120),
    ),
    "repeat-copy": (
        RepeatCopy(bits=8, min_length=1, max_length=10, min_repeats=1, max_repeats=10, count_range=(1, 10)),
        "length 10-20, repeats 10-20",
        RepeatCopy(bits=8, min_length=10, max_length=20, min_repeats=10, max_repeats=20, count_range=(1, 10)),
    ),
    "associative-recall": (
        AssociativeRecall(bits=6, item_length=3, min_items=2, max_items=6),
        "items 6-20",
        AssociativeRecall(bits=6, item_length=3, min_items=6, max_items=20),
    ),
    "ngrams": (DynamicNGrams(order=6, length=50), "length 200", DynamicNGrams(order=6, length=200)),
    "priority-sort": (
        PrioritySort(bits=8, items=20, sorted_items=16),
        "sorted 20 of 20",
        PrioritySort(bits=8, items=20, sorted_items=20),
    ),
    "long-copy": (
        Copy(bits=8, min_length=1, max_length=40),
        "length 200",
        Copy(bits=8, min_length=200, max_length=200),
    ),
    "copy-and-repeat-copy": (
        Sequencing(parts=(Copy(max_length=10), RepeatCopy(max_length=10, max_repeats=10, count_range=(1, 10)))),
        "length 10-20, repeats 10-15",
        Sequencing(
            parts=(
                Copy(min_length=10, max_length=20),
                RepeatCopy(min_length=10, max_length=20, min_repeats=10, max_repeats=15, count_range=(1, 10)),
            )
        ),
    ),
    "copy-and-associative-recall": (
        Sequencing(parts=(Copy(max_length=10), AssociativeRecall(bits=8, item_length=8, min_items=2, max_items=4))),
        "length 10-20, items 4-6",
        Sequencing(
            parts=(
                Copy(min_length=10, max_length=20),
                AssociativeRecall(bits=8, item_length=8, min_items=4, max_items=6),
            )
        ),
    ),
    "copy-and-priority-sort": (
        Sequencing(parts=(Copy(max_length=10), PrioritySort(items=10, sorted_items=8))),
        "length 10-20, sorted 10 of 10",
        Sequencing(parts=(Copy(min_length=10, max_length=20), PrioritySort(items=10, sorted_items=10))),
    ),
    "four-in-sequence": (
        Sequencing(
            parts=(
                Copy(max_length=10),
                RepeatCopy(max_length=10, max_repeats=5, count_range=(1, 5)),
                AssociativeRecall(bits=8, item_length=6, min_items=2, max_items=4),
                PrioritySort(items=10, sorted_items=8),
            )
        ),
        "length 10-20, 6 repeats, 5 items, sorted 10 of 10",
        Sequencing(
            parts=(
                Copy(min_length=10, max_length=20),
                RepeatCopy(min_length=10, max_length=20, min_repeats=6, max_repeats=6, count_range=(1, 5)),
                AssociativeRecall(bits=8, item_length=6, min_items=5, max_items=5),
                PrioritySort(items=10, sorted_items=10),
            )
        ),
    ),
    "continual": (Continual(parts=CONTINUAL), "copy", CONTINUAL[0]),
    "odd-even": (OddEven(max_length=20), "length 1-20", OddEven(max_length=20)),
    "sum-of-two": (SumOfTwo(max_length=10, largest=50), "length 1-10", SumOfTwo(max_length=10, largest=50)),
    "multi-modal": (
        MultiModal(contexts=4, modes=4, length=2, tokens=12, spelling=6, letters=6, table=0),
        "coverage",
        ModeCoverage(task=MultiModal(), samples=64),
    ),
    "token-copy": (TokenCopy(length=50, largest=9), "length 50", TokenCopy(length=50, largest=9)),
    "double": (Double(length=50, largest=9), "length 50", Double(length=50, largest=9)),
    "reverse": (Reverse(length=50, largest=9), "length 50", Reverse(length=50, largest=9)),
    "add": (Add(length=50, largest=9), "length 50", Add(length=50, largest=9)),
    "max": (Max(length=50, largest=50), "length 50", Max(length=50, largest=50)),
    "brackets": (
        Brackets(kinds=4, min_pairs=1, max_pairs=20),
        "40 pairs",
        Brackets(kinds=4, min_pairs=40, max_pairs=40),
    ),
    "sinusoid": (Sinusoid(length=100, noise=0.0), "length 100", Sinusoid(length=100, noise=0.0)),
    "noisy-sinusoid": (Sinusoid(length=100, noise=2.0), "length 100", Sinusoid(length=100, noise=2.0)),
    "multi-query-recall": (
        MultiQueryRecall(keys=32, values=16, min_pairs=1, max_pairs=8, context=2),
        "8 pairs",
        MultiQueryRecall(keys=32, values=16, min_pairs=8, max_pairs=8, context=2),
    ),
}


def test_the_settings_are_those_of_the_thesis() -> None:
    found = {name: (entry.train, entry.thesis_test, entry.tests[entry.thesis_test]) for name, entry in TASKS.items()}
    assert found == THESIS


def test_copy_is_also_tested_nearer_to_training() -> None:
    assert list(TASKS["copy"].tests) == ["length 20", "length 60", "length 120"]
    assert TASKS["copy"].tests["length 60"] == Copy(min_length=60, max_length=60)


@pytest.mark.parametrize("name", ["token-copy", "double", "reverse", "add", "max"])
def test_tasks_over_tokens_are_also_tested_at_100(name: str) -> None:
    assert list(TASKS[name].tests) == ["length 50", "length 100"]
    assert TASKS[name].tests["length 100"] == type(TASKS[name].train)(length=100)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", TASKS)
def test_training_and_tests_have_the_same_channels(name: str) -> None:
    entry = TASKS[name]
    sizes = {(task.input_size, task.output_size) for task in (entry.train, *entry.tests.values())}
    assert len(sizes) == 1


@pytest.mark.parametrize("name", TASKS)
def test_an_entry_points_to_its_file(name: str) -> None:
    entry = find_task(name)
    assert entry is TASKS[name]
    root = Path(mnemon.__file__).parent.parent
    assert f"class {type(entry.train).__name__}" in (root / entry.file).read_text(encoding="utf-8")
    assert entry.thesis.startswith(("§7.4.", "§6.5.", "§4.5.", "§5.1", "§3.3.", "beyond"))
    assert entry.summary.endswith(".")


@pytest.mark.parametrize("name", DATA_TASKS)
def test_a_task_over_data_needs_them(name: str) -> None:
    with pytest.raises(UserError) as caught:
        find_task(name)
    assert str(caught.value) == f"task {name!r} needs its data: write --data and the folder that holds them"
    assert (Path(mnemon.__file__).parent.parent / DATA_TASKS[name].file).exists()
    assert DATA_TASKS[name].thesis.startswith(("beyond", "§3.3.2", "§5.4", "§6.5.5", "§6.5.6", "§7.4.4", "§7.4.5"))
    assert DATA_TASKS[name].summary.endswith(".")


@pytest.mark.parametrize("name", ["mnist", "permuted-mnist"])
def test_a_task_over_data_with_them(tmp_path: Path, name: str) -> None:
    write_mnist(tmp_path, train=10_001, test=3)
    entry = find_task(name, tmp_path)
    assert (entry.summary, list(entry.tests)) == (DATA_TASKS[name].summary, ["validation", "test"])
    parts = [entry.train, *entry.tests.values()]
    assert [part.size for part in parts if isinstance(part, Pixels)] == [1, 10_000, 3]
    orders = {tuple(part.order.tolist()) for part in parts if isinstance(part, Pixels)}
    assert (orders == {(0, 1, 2, 3)}) == (name == "mnist")


@pytest.mark.parametrize("name", sorted(DOCUMENT_SETS))
def test_a_task_over_documents_reads_its_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"{DOCUMENT_SETS[name].title.split()[0]}"):
        find_task(name, tmp_path)


@pytest.mark.parametrize("name", ["chit-chat", "self-dialogue"])
def test_a_task_over_conversations_reads_its_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="Chit-Chat" if name == "chit-chat" else "Self-dialogue"):
        find_task(name, tmp_path)
    write_chit_chat(tmp_path)
    write_self_dialogue(tmp_path)
    entry = find_task(name, tmp_path)
    assert list(entry.tests) == ["validation", "test", "test, guided"]
    assert len({(task.input_size, task.output_size) for task in (entry.train, *entry.tests.values())}) == 1


def test_a_near_miss_is_put_right() -> None:
    with pytest.raises(UserError) as caught:
        find_task("asociative_recall")
    names = ", ".join([*TASKS, *DATA_TASKS])
    assert str(caught.value) == (
        f"no task is called 'asociative_recall': did you mean 'associative-recall'? write one of {names}"
    )


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"^no task is called 'zzz': write one of copy, repeat-copy, .*$"):
        find_task("zzz")


def test_the_test_of_the_thesis_must_be_among_the_tests() -> None:
    task = Copy()
    with pytest.raises(UserError, match=r"^TaskEntry\(thesis_test='b'\): write one of its tests: a$"):
        TaskEntry(summary="", thesis="", file="", train=task, tests={"a": task}, thesis_test="b")
