from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.tasks import Babi, Batch, CountingTask, FiniteTask, babi, find_task
from mnemon.tasks.babi import answers
from mnemon.training.evaluation import evaluate
from tests.data.tiny_data import write_babi


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Babi]:
    folder = tmp_path_factory.mktemp("babi")
    write_babi(folder, stories=11)
    found = [part for part in babi(folder) if isinstance(part, Babi)]
    assert all(isinstance(part, CountingTask) and isinstance(part, FiniteTask) for part in found)
    return found


def words(task: Babi, batch: Batch, row: int) -> tuple[list[str], list[str | None]]:
    """What a row shows and asks, one step after the other, until its end."""
    assert batch.lengths is not None
    shown, asked = [], []
    for t in range(len(batch.mask)):
        if t >= batch.lengths[row]:
            assert not batch.inputs[t, row].any()
            assert batch.mask[t, row] == 0
            continue
        assert batch.inputs[t, row].sum() == 1
        shown.append(task.vocabulary[int(batch.inputs[t, row].argmax())])
        asked.append(task.vocabulary[int(batch.targets[t, row].argmax())] if batch.mask[t, row] else None)
        assert batch.targets[t, row].sum() == batch.mask[t, row]
    return shown, asked


def test_the_splits(parts: list[Babi]) -> None:
    train, validation, test = parts
    assert (train.size, validation.size, test.size) == (20 * 10, 20, 20 * 11)
    assert sorted(set(train.numbers.tolist())) == list(range(1, 21))
    assert train.vocabulary == validation.vocabulary == test.vocabulary
    assert (train.input_size, train.output_size) == (len(train.vocabulary),) * 2


def test_a_story_word_by_word(parts: list[Babi]) -> None:
    train = parts[0]
    batch = train.batch_of(torch.tensor([0]))  # see write_babi
    shown, asked = words(train, batch, 0)
    assert " ".join(shown) == "mary went to place0 . what has mary ? - - john left . where is john ? -"
    assert asked == [*[None] * 9, "milk", "place0", *[None] * 7, "place0"]
    assert batch.groups is not None
    assert batch.groups.tolist() == [1]
    wrong = -batch.targets
    wrong[..., train.vocabulary.index("john")] += 1e-3
    assert train.render(batch, 0, batch.targets).endswith("? [milk] [place0] john left . where is john ? [place0]")
    assert train.render(batch, 0, wrong).endswith(
        "? [milk]×john [place0]×john john left . where is john ? [place0]×john"
    )


@settings(deadline=None)
@given(st.lists(st.integers(0, 199), min_size=1, max_size=5))
def test_a_padded_row_equals_the_row_alone(parts: list[Babi], rows: list[int]) -> None:
    train = parts[0]
    batch = train.batch_of(torch.tensor(rows))
    for place, row in enumerate(rows):
        assert words(train, batch, place) == words(train, train.batch_of(torch.tensor([row])), 0)


def naive_answers(asked: list[bool], wrong: list[bool]) -> tuple[int, int]:
    """How many answers there are, and how many of them have a wrong word."""
    count = failures = 0
    inside = failed = False
    for is_asked, is_wrong in [*zip(asked, wrong, strict=True), (False, False)]:
        if is_asked and not inside:
            inside, failed = True, False
            count += 1
        if is_asked:
            failed = failed or is_wrong
        elif inside:
            inside = False
            failures += failed
    return count, failures


@given(st.lists(st.lists(st.sampled_from([(0, 0), (1, 0), (1, 1)]), min_size=4, max_size=4), min_size=1, max_size=9))
def test_answers_against_a_loop(steps: list[list[tuple[int, int]]]) -> None:
    asked = torch.tensor([[entry[0] for entry in step] for step in steps], dtype=torch.bool)
    wrong = torch.tensor([[entry[1] for entry in step] for step in steps], dtype=torch.bool)
    begins, failures = answers(asked, wrong)
    for b in range(4):
        expected = naive_answers(asked[:, b].tolist(), wrong[:, b].tolist())
        assert (int(begins[:, b].sum()), int(failures[:, b].sum())) == expected


class Parrot(nn.Module):
    """Answers with the place it has read of, which is right where a place is asked and nothing else."""

    def __init__(self, vocabulary: tuple[str, ...]) -> None:
        super().__init__()
        self.places = torch.tensor([float(word.startswith("place")) for word in vocabulary])

    def forward(self, inputs: Tensor, *, lengths: Tensor | None = None) -> tuple[Tensor, None]:
        del lengths
        return inputs.cumsum(0) * self.places, None


def test_errors_of_a_test_against_a_loop(parts: list[Babi]) -> None:
    """Every question counts the same, whatever batch and story it is in."""
    test = parts[2]
    asked, wrong = dict.fromkeys(range(1, 21), 0), dict.fromkeys(range(1, 21), 0)
    for row in range(test.size):
        batch = test.batch_of(torch.tensor([row]))
        output, _ = Parrot(test.vocabulary)(batch.inputs)
        missed = output.argmax(-1) != batch.targets.argmax(-1)
        count, failures = naive_answers((batch.mask[:, 0] > 0).tolist(), missed[:, 0].tolist())
        asked[int(test.numbers[row])] += count
        wrong[int(test.numbers[row])] += failures
    errors = {number: wrong[number] / asked[number] for number in asked}
    found = evaluate(Parrot(test.vocabulary), test, name="test", sequences=1, seed=0).metrics
    assert list(found)[:3] == ["mean_error", "failed", "error_1"]
    assert found == pytest.approx(
        {
            "mean_error": sum(errors.values()) / 20,
            "failed": sum(error > 0.05 for error in errors.values()),
            **{f"error_{number}": error for number, error in errors.items()},
        }
    )
    assert 0 < found["mean_error"] < 1


def test_a_task_fails_above_five_percent(parts: list[Babi]) -> None:
    counts = {"asked_1": 100.0, "wrong_1": 5.0, "asked_2": 100.0, "wrong_2": 6.0}
    rates = parts[0].rates(counts)
    assert rates == pytest.approx({"mean_error": 0.055, "failed": 1.0, "error_1": 0.05, "error_2": 0.06})


def test_every_story_once_and_batches_of_like_length(parts: list[Babi]) -> None:
    test = parts[2]
    batches = list(test.examples(32))
    assert sum(batch.mask.shape[1] for batch in batches) == test.size
    lengths = [length for batch in batches if batch.lengths is not None for length in batch.lengths.tolist()]
    assert lengths == sorted(test.lengths.tolist())


def test_a_sample_depends_on_its_generator_only_and_draws_all_tasks(parts: list[Babi]) -> None:
    train = parts[0]
    first = train.sample(16, torch.Generator().manual_seed(3))
    torch.rand(3)
    again = train.sample(16, torch.Generator().manual_seed(3))
    assert torch.equal(first.inputs, again.inputs)
    generator = torch.Generator().manual_seed(0)
    drawn = [train.sample(16, generator).groups for _ in range(60)]
    counts = torch.cat([group for group in drawn if group is not None]).bincount(minlength=21)[1:]
    assert counts.min() > 20  # 48 are expected
    assert counts.max() < 90


def test_a_batch_mixes_stories_of_all_lengths(parts: list[Babi]) -> None:
    """Those of about one length would be of a task or two."""
    train, *_ = parts
    batch = train.sample(400, torch.Generator().manual_seed(0))
    assert batch.lengths is not None
    assert set(batch.lengths.tolist()) == set(train.lengths.tolist())
    assert len(set(train.lengths.tolist())) > 1


def test_metrics_of_a_batch(parts: list[Babi]) -> None:
    batch = parts[0].batch_of(torch.tensor([0]))
    output = batch.targets.clone()
    assert parts[0].metrics(output, batch) == {"error": 0.0}
    output[9] = 1 - output[9]  # one of the two words of the first answer
    assert parts[0].metrics(output, batch) == {"error": 0.5}


def test_long_training_stories_are_left_out(tmp_path: Path) -> None:
    write_babi(tmp_path, stories=20)
    whole, short = babi(tmp_path, longest=None).train, babi(tmp_path, longest=25).train
    assert isinstance(whole, Babi)
    assert isinstance(short, Babi)
    assert int(short.lengths.max()) <= 25 < int(whole.lengths.max())
    with pytest.raises(UserError, match="has too few training stories: ten or more of a task, of 3 words at most"):
        babi(tmp_path, longest=3)


def test_in_the_catalogue(tmp_path: Path) -> None:
    write_babi(tmp_path / "babi", stories=10)
    entry = find_task("babi", tmp_path)
    assert list(entry.tests) == ["validation", "test"]
