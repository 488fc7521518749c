from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from mnemon.data.babi import Question, Tale, read_sentences
from mnemon.errors import UserError
from mnemon.tasks import BabiQuestions, Batch, CountingTask, FiniteTask, babi_questions, find_task
from mnemon.training.evaluation import evaluate
from tests.data.tiny_data import write_babi

STORY = "1 Mary moved.\n2 Where is Mary? \thall\t1\n3 It, too!\n4 How?\ts,w\t3 1\n1 Who?\tmary\n"


def open_parts(folder: Path, *, facts: bool = False, sentences: int = 50) -> list[BabiQuestions]:
    splits = babi_questions(folder, facts=facts, sentences=sentences)
    found = [part for part in splits if isinstance(part, BabiQuestions)]
    assert all(isinstance(part, CountingTask) and isinstance(part, FiniteTask) for part in found)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("babi")
    write_babi(folder, stories=11)
    return folder


@pytest.fixture(scope="module")
def parts(folder: Path) -> list[BabiQuestions]:
    return open_parts(folder)


@pytest.fixture(scope="module")
def with_facts(folder: Path) -> list[BabiQuestions]:
    return open_parts(folder, facts=True)


def test_sentences_and_facts() -> None:
    assert read_sentences(STORY, "file") == [
        Tale(
            sentences=[("mary", "moved"), ("it", "too")],
            questions=[
                Question(words=("where", "is", "mary"), answer="hall", told=1, facts=[0]),
                Question(words=("how",), answer="s,w", told=2, facts=[1, 0]),
            ],
        ),
        Tale(sentences=[], questions=[Question(words=("who",), answer="mary", told=0, facts=[])]),
    ]
    with pytest.raises(UserError, match="file line 1 is not a number and a sentence"):
        read_sentences("1 Who?\tmary\tone\n", "file")


def shown(task: BabiQuestions, batch: Batch, row: int) -> list[list[str]]:
    """The words of both views."""
    assert batch.visits is not None
    visit = batch.visits[0]
    return [
        [task.vocabulary[token] for token in view[: int(own[row]), row].tolist()]
        for view, own in zip(visit.views, visit.lengths, strict=True)
    ]


def test_a_question_with_its_story(parts: list[BabiQuestions], with_facts: list[BabiQuestions]) -> None:
    train = parts[0]  # see babi_story
    batch = train.batch_of(torch.tensor([1, 0]))
    assert [" ".join(view) for view in shown(train, batch, 0)] == [
        "mary went to place0 . john left .",
        "where is john .",
    ]
    assert [" ".join(view) for view in shown(train, batch, 1)] == ["mary went to place0 .", "what has mary ."]
    assert [train.answers[int(row.argmax())] for row in batch.targets[0]] == ["place0", "milk,place0"]
    assert batch.mask.tolist() == [[1, 1]]
    assert train.vocabulary[0] == "."
    asked = with_facts[0].batch_of(torch.tensor([1, 0]))
    enough = len(train.answers)
    assert asked.targets.argmax(-1).T.tolist() == [
        [enough + 2, enough, 0, 0, train.answers.index("place0")],  # the fact is one sentence back
        [enough + 1, enough, 0, 0, train.answers.index("milk,place0")],
    ]
    assert asked.mask.T.tolist() == [[1, 1, 0, 0, 1]] * 2
    assert with_facts[0].output_size == enough + 1 + 50
    text = with_facts[0].render(asked, 0, asked.targets)
    assert text.splitlines()[-3:] == [
        "where is john?",
        "target  1 back, enough, place0",
        "answer  1 back, enough, place0",
    ]
    assert with_facts[0].render(asked, 0, -asked.targets).endswith("×")


def test_the_splits(parts: list[BabiQuestions]) -> None:
    train, validation, test = parts
    assert train.size + validation.size == test.size  # 10 stories and 1 of a task against 11
    assert sorted(set(train.numbers.tolist())) == list(range(1, 21))
    assert train.input_size.views == (len(train.vocabulary),) * 2
    assert train.output_size == len(train.answers) == test.output_size


def test_only_the_last_sentences_are_shown(folder: Path) -> None:
    one, two = (open_parts(folder, facts=True, sentences=count)[0] for count in (1, 2))
    assert shown(one, one.batch_of(torch.tensor([1])), 0)[0] == ["john", "left", "."]
    assert one.facts[1].tolist() == [-1] * 4  # it is not shown any more
    assert two.facts[1].tolist() == [1, -1, -1, -1]
    with pytest.raises(UserError, match=r"babi_questions\(sentences=0\): write 1 or more"):
        babi_questions(folder, sentences=0)


class Parrot(nn.Module):
    """Answers with the place that was told last."""

    def __init__(self, task: BabiQuestions) -> None:
        super().__init__()
        self.task = task

    def forward(self, views: list[Tensor], *_: object, **__: object) -> tuple[Tensor, tuple[()]]:
        output = torch.zeros(1, views[0].shape[1], self.task.output_size)
        for row in range(views[0].shape[1]):
            places = [self.task.vocabulary[token] for token in views[0][:, row] if token]
            places = [place for place in places if place.startswith("place")]
            if places:
                output[0, row, self.task.answers.index(places[-1])] = 1
        return output, ()


def test_errors_against_a_loop(parts: list[BabiQuestions]) -> None:
    test = parts[2]
    wrong, asked = dict.fromkeys(range(1, 21), 0), dict.fromkeys(range(1, 21), 0)
    for row in range(test.size):
        number = int(test.numbers[row])
        asked[number] += 1
        wrong[number] += not test.answers[int(test.labels[row])].startswith("place")
    found = evaluate(Parrot(test), test, name="test", sequences=1, seed=0).metrics
    for number in asked:
        assert found[f"error_{number}"] == pytest.approx(wrong[number] / asked[number])
    assert found["failed"] == 20
    assert found["mean_error"] == pytest.approx(sum(wrong[n] / asked[n] for n in asked) / 20)


def test_only_the_answer_counts(with_facts: list[BabiQuestions]) -> None:
    test = with_facts[2]
    batch = test.batch_of(torch.arange(4))
    output = batch.targets.clone()
    output[:-1] = -output[:-1]
    assert test.metrics(output, batch) == {"error": 0.0}
    assert test.rates(test.counts(output, batch))["mean_error"] == 0.0
    output[-1, 0] *= -1
    assert test.metrics(output, batch) == {"error": 0.25}
    assert float(test.loss(batch.targets * 50, batch)) < 1e-6


def test_samples(parts: list[BabiQuestions]) -> None:
    train = parts[0]
    first, again = (train.sample(16, torch.Generator().manual_seed(3)) for _ in range(2))
    assert first.visits is not None
    assert again.visits is not None
    assert torch.equal(first.visits[0].views[0], again.visits[0].views[0])
    assert torch.equal(first.targets, again.targets)
    generator = torch.Generator().manual_seed(0)
    drawn = [train.sample(16, generator).groups for _ in range(60)]
    counts = torch.cat([group for group in drawn if group is not None]).bincount(minlength=21)[1:]
    assert counts.min() > 20  # 48 are expected
    assert counts.max() < 90
    assert sum(batch.mask.shape[1] for batch in parts[2].examples(7)) == parts[2].size


def test_in_the_catalogue(tmp_path: Path, folder: Path) -> None:
    for name in ("babi-questions", "babi-facts"):
        assert list(find_task(name, folder).tests) == ["validation", "test"]
    write_babi(tmp_path, stories=9)
    with pytest.raises(UserError, match="has too few training stories: 10 or more of a task"):
        find_task("babi-facts", tmp_path)
