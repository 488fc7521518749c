from collections import Counter, defaultdict
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks import FewShot, find_task, omniglot
from mnemon.tasks.omniglot import presentations
from tests.data.tiny_data import write_omniglot


def drawings(characters: int, examples: int, side: int = 3) -> Tensor:
    """All pixels of a character's example have values that tell which it is, and each pixel its place."""
    tell = torch.randint(256, (characters, examples, side * side), generator=torch.Generator().manual_seed(0))
    return tell.to(torch.uint8)


def find(task: FewShot, picture: Tensor) -> set[tuple[int, int, int]]:
    """Which character, example and number of turns a picture may be of."""
    side = round(task.pixels**0.5)
    found = set()
    for character in range(len(task.drawings)):
        for example in range(task.drawings.shape[1]):
            square = task.drawings[character, example].view(side, side)
            for turn in range(4 if task.rotations else 1):
                if torch.equal(torch.rot90(square, turn).flatten().float() / 255, picture):
                    found.add((character, example, turn))
    return found


@settings(deadline=None, max_examples=30)
@given(
    classes=st.integers(2, 4),
    more=st.integers(0, 4),
    episodes=st.integers(1, 3),
    rotations=st.booleans(),
    rows=st.integers(1, 2),
    seed=st.integers(0, 1000),
)
def test_episodes_against_a_search(
    classes: int, more: int, episodes: int, rotations: bool, rows: int, seed: int
) -> None:
    length = classes + more
    task = FewShot(drawings=drawings(5, 6), classes=classes, length=length, episodes=episodes, rotations=rotations)
    batch = task.sample(rows, torch.Generator().manual_seed(seed))
    assert batch.inputs.shape == (length * episodes, rows, 9 + classes)
    assert bool((batch.mask == 1).all())
    for b in range(rows):
        for first in range(0, length * episodes, length):
            characters: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
            shown: set[tuple[int, int, int]] = set()
            counts: Counter[int] = Counter()
            for t in range(first, first + length):
                label = int(batch.targets[t, b].argmax())
                assert batch.targets[t, b].sum() == 1
                (seen,) = find(task, batch.inputs[t, b, :9])
                characters[label].add((seen[0], seen[2]))
                shown.add(seen)
                counts[label] += 1
                told = batch.inputs[t, b, 9:]
                if t == first:
                    assert not told.any()
                else:
                    assert torch.equal(told, batch.targets[t - 1, b])
            assert all(len(of_label) == 1 for of_label in characters.values()), "a label is of one character"
            assert len({of_label.pop()[0] for of_label in characters.values()}) == classes, "no two labels of one"
            assert len(shown) == length, "no drawing comes twice"
            assert max(counts.values()) - min(counts[label] for label in range(classes)) <= 1


def naive_presentations(labels: list[int], length: int) -> list[int]:
    found: list[int] = []
    seen: Counter[int] = Counter()
    for t, label in enumerate(labels):
        if t % length == 0:
            seen = Counter()
        seen[label] += 1
        found.append(seen[label])
    return found


@given(st.integers(1, 6), st.integers(1, 3), st.data())
def test_presentations_against_a_loop(length: int, episodes: int, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(0, 2), min_size=length * episodes, max_size=length * episodes))
    targets = torch.nn.functional.one_hot(torch.tensor(labels), 3).float().unsqueeze(1)
    assert presentations(targets, length).flatten().tolist() == naive_presentations(labels, length)


@pytest.mark.parametrize("episodes", [1, 3])
def test_metrics_against_a_loop(episodes: int) -> None:
    task = FewShot(drawings=drawings(5, 8), classes=2, length=12, episodes=episodes)
    batch = task.sample(4, torch.Generator().manual_seed(0))
    output = torch.randn(batch.targets.shape, generator=torch.Generator().manual_seed(1))
    right: defaultdict[int, list[float]] = defaultdict(list)
    everything = []
    for b in range(4):
        labels = batch.targets[:, b].argmax(-1).tolist()
        for t, number in enumerate(naive_presentations(labels, 12)):
            if episodes == 1 or t >= 12:
                hit = float(int(output[t, b].argmax()) == labels[t])
                right[number].append(hit)
                everything.append(hit)
    expected = {f"accuracy_{name}": sum(right[k]) / len(right[k]) for name, k in (("2nd", 2), ("3rd", 3), ("5th", 5))}
    found = task.metrics(output, batch)
    assert found == pytest.approx(expected | {"accuracy": sum(everything) / len(everything)})
    assert list(found) == ["accuracy_2nd", "accuracy_3rd", "accuracy_5th", "accuracy"]


def test_presentations_that_never_come_have_no_accuracy() -> None:
    task = FewShot(drawings=drawings(4, 4), classes=2, length=6)
    batch = task.sample(2, torch.Generator().manual_seed(0))
    assert list(task.metrics(batch.targets, batch)) == ["accuracy_2nd", "accuracy_3rd", "accuracy"]


def test_labels_are_shuffled_between_episodes() -> None:
    task = FewShot(drawings=drawings(2, 5), classes=2, length=4, rotations=False)
    generator = torch.Generator().manual_seed(0)
    labels = set()
    for _ in range(20):
        batch = task.sample(1, generator)
        ((character, _, _),) = find(task, batch.inputs[0, 0, :9])
        labels.add((character, int(batch.targets[0, 0].argmax())))
    assert labels == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_sample_depends_on_its_generator_only() -> None:
    task = FewShot(drawings=drawings(6, 6), classes=3, length=9)
    first = task.sample(3, torch.Generator().manual_seed(3))
    torch.rand(3)
    again = task.sample(3, torch.Generator().manual_seed(3))
    assert torch.equal(first.inputs, again.inputs)


def test_rendering_shows_labels() -> None:
    task = FewShot(drawings=drawings(4, 4), classes=2, length=4)
    batch = task.sample(1, torch.Generator().manual_seed(0))
    assert task.render(batch, 0, batch.targets).endswith("0 of 4 tokens wrong")


def test_splits_of_a_tiny_omniglot(tmp_path: Path) -> None:
    write_omniglot(tmp_path / "omniglot", characters=40, examples=20)
    entry = find_task("omniglot-5", tmp_path)
    assert list(entry.tests) == ["test"]
    train, test = entry.train, entry.tests["test"]
    assert isinstance(train, FewShot)
    assert isinstance(test, FewShot)
    assert (len(train.drawings), len(test.drawings)) == (29, 11)
    assert (train.input_size, train.output_size, train.length, train.episodes) == (405, 5, 50, 1)
    together = torch.cat([train.drawings, test.drawings]).flatten(1)
    assert len(set(map(tuple, together.tolist()))) == 40, "no character is in both parts"
    ten = omniglot(tmp_path, classes=10, episodes=2).train
    assert isinstance(ten, FewShot)
    assert (ten.length, ten.episodes) == (75, 2)
    persistent = find_task("omniglot-10-persistent", tmp_path).train
    assert isinstance(persistent, FewShot)
    assert (persistent.classes, persistent.episodes) == (10, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": 1}, r"FewShot\(classes=1\): write classes=2 or more"),
        ({"classes": 5}, r"FewShot\(classes=5\): write 4 or less, the characters there are"),
        ({"length": 1}, r"FewShot\(length=1\): write length=2 or more"),
        ({"length": 7}, r"FewShot\(length=7\): write 6 or less, as many drawings as there are"),
        ({"episodes": 0}, r"FewShot\(episodes=0\): write episodes=1 or more"),
    ],
)
def test_settings(changes: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        FewShot(**{"drawings": drawings(4, 3), "classes": 2, "length": 5, **changes})  # type: ignore[arg-type]
