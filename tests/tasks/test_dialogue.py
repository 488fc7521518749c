from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mnemon.data.dialogue.conversations import Lengths, Pair
from mnemon.errors import UserError
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.models.embeddings import begin_with
from mnemon.tasks.base import FiniteTask, PooledTask, WordTask, known_vectors
from mnemon.tasks.copy import Copy
from mnemon.tasks.dialogue import Dialogue, encode
from mnemon.tasks.dialogue_sets import GUIDED, dialogue
from mnemon.tasks.guided import Guided
from mnemon.tasks.spoken import Spoken
from mnemon.tasks.wording import UNKNOWN, Wording
from mnemon.training.evaluation import evaluate
from mnemon.views import TokenVectors
from tests.data.tiny_data import write, write_glove
from tests.data.tiny_talk import VECTORS, write_chit_chat, write_pairs, write_self_dialogue

WORDING = Wording.of(["hi", "you", "!"], Lengths(context=3, response=2))
PAIRS = [Pair(("hi", "you"), ("you", "!")), Pair((), ("hi",)), Pair(("hi", "who", "hi"), ("what", "hi"))]
TASK = Dialogue(pairs=encode(PAIRS, WORDING), wording=WORDING)

WRITERS: dict[str, Callable[[Path], None]] = {"chit-chat": write_chit_chat, "self-dialogue": write_self_dialogue}


class Parrot(nn.Module):
    """Answers with a word that the noise decides."""

    def forward(self, views: Sequence[Tensor], *_: Any, steps: int, **__: Any) -> tuple[Tensor, tuple[()]]:
        return torch.randn(steps, views[0].shape[1], TASK.output_size), ()


def test_a_batch() -> None:
    batch = TASK.batch_of(torch.tensor([0, 1, 2]))
    assert batch.visits is not None
    visit = batch.visits[0]
    assert visit.views[0].T.tolist() == [[2, 3, 0, 0], [0, 0, 0, 0], [2, UNKNOWN, 2, 0]]
    assert visit.lengths[0].tolist() == [3, 1, 4]
    assert batch.targets.argmax(-1).T.tolist() == [[3, 4, 0], [2, 0, 0], [UNKNOWN, 2, 0]]
    assert batch.targets.sum(-1).eq(1).all()
    assert batch.mask.T.tolist() == [[1, 1, 1], [1, 1, 0], [1, 1, 1]]
    assert TASK.batch_of(torch.tensor([1])).mask.shape == (3, 1)  # as long as any, so that the length tells nothing


def test_it_is_what_the_loop_and_a_test_need() -> None:
    assert isinstance(TASK, FiniteTask)
    assert isinstance(TASK, WordTask)
    assert not isinstance(TASK, PooledTask)  # a guided test says nothing of whole answers
    assert isinstance(Spoken(task=TASK), FiniteTask)
    assert isinstance(Spoken(task=TASK), PooledTask)
    assert known_vectors(Copy()) is None
    assert TASK.input_size.views == (TASK.output_size,) == (5,)


def test_the_loss_counts_what_is_asked_alone() -> None:
    batch = TASK.batch_of(torch.tensor([1]))
    output = torch.zeros(3, 1, 5)
    expected = float(torch.tensor(5.0).log())
    assert float(TASK.loss(output, batch)) == pytest.approx(expected)
    output[2] = 1e4 * torch.randn(1, 5)
    assert float(TASK.loss(output, batch)) == pytest.approx(expected)
    assert TASK.metrics(batch.targets, batch) == {"accuracy": 1.0}


def test_a_test_goes_through_all_contexts_as_often_as_there_are_samples() -> None:
    task = Spoken(task=Dialogue(pairs=encode(PAIRS, WORDING), wording=WORDING, contexts=2), samples=2)
    assert [batch.mask.shape[1] for batch in task.examples(64)] == [2, 2]
    assert [batch.mask.shape[1] for batch in task.examples(1)] == [1, 1, 1, 1]
    assert [batch.mask.shape[1] for batch in TASK.examples(2)] == [2, 1]


def test_samples_differ_and_come_again() -> None:
    task = Spoken(task=TASK, samples=4)
    first, second = (evaluate(Parrot(), task, name="test", sequences=1, seed=3) for _ in range(2))
    assert first == second
    assert first.metrics["variety"] > 0.25
    assert evaluate(Parrot(), task, name="test", sequences=1, seed=4) != first


def test_rendering() -> None:
    batch = TASK.batch_of(torch.tensor([0]))
    assert TASK.render(batch, 0, batch.targets) == "context   hi you\nresponse  you!\nanswer    you!"


@pytest.mark.parametrize("name", WRITERS)
def test_sets(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path)
    train, validation, test, more = dialogue(name, tmp_path, words=8)
    assert isinstance(train, Dialogue)
    assert isinstance(validation, Guided)
    assert isinstance(validation.task, Dialogue)
    assert isinstance(test, Spoken)
    assert more == {GUIDED: Guided(task=test.task)}
    assert [task.size for task in (train, validation.task, test.task)] == [36 - 12, 6, 6]
    assert (train.output_size, test.samples, test.task.contexts, train.contexts) == (10, 10, 1_000, None)
    assert train.wording is test.task.wording
    vectors = known_vectors(train)
    assert vectors is not None
    for token, vector in zip(vectors.tokens.tolist(), vectors.vectors.tolist(), strict=True):
        assert VECTORS[train.wording.table.entry(token)] == tuple(vector)


def test_pairs_of_ones_own_need_no_vectors(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    assert known_vectors(dialogue("dialogue-pairs", tmp_path).train) is None
    write_glove(tmp_path / "glove.txt", {"qqq": (1.0,)})
    with pytest.raises(UserError, match=r"glove\.txt has a vector for none of the words of the conversations"):
        dialogue("dialogue-pairs", tmp_path)


def test_a_vocabulary_of_one_word_and_over_long_input(tmp_path: Path) -> None:
    lines = [f"{'a ' * 50}{number}\t{'a ' * 30}" for number in range(12)]
    write(tmp_path / "pairs.tsv", "\n".join(lines).encode())
    splits = dialogue("dialogue-pairs", tmp_path, words=1, samples=2)
    train = splits.train
    assert isinstance(train, Dialogue)
    batch = train.sample(3, torch.Generator().manual_seed(0))
    assert batch.visits is not None
    assert (train.output_size, batch.visits[0].views[0].shape, batch.mask.shape) == (3, (21, 3), (11, 3))
    model = build_model(ModelConfig(name="seq2seq", hidden=3, embedding=2), train.input_size, train.output_size)
    found = evaluate(model, splits.test, name="test", sequences=1, seed=0)
    assert 0 <= found.metrics["bleu_1"] <= 4 / 3  # the seventh smoothing goes above one


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = write_pairs(tmp_path)
    path.write_bytes(path.read_bytes() + b"\nno tab")
    with pytest.warns(
        UserWarning, match=r"left out: 1 lines that are not context<TAB>response \(.*pairs\.tsv line 31\)"
    ):
        dialogue("dialogue-pairs", tmp_path)


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"words": 0}, "write words=1 or more"), ({"lengths": Lengths(context=0)}, "write context=1 or more")],
)
def test_settings_that_are_none(tmp_path: Path, options: dict[str, object], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        dialogue("chit-chat", tmp_path, **options)  # type: ignore[arg-type]


def test_an_unknown_set(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no set of conversations is called 'chitchat': did you mean 'chit-chat'"):
        dialogue("chitchat", tmp_path)


def test_the_wording_is_kept() -> None:
    document = WORDING.to_json()
    assert document == {"context": 3, "response": 2, "words": ["hi", "you", "!"]}
    assert Wording.from_json(document, "here") == WORDING
    for broken in ({}, document | {"words": [1]}, document | {"context": 0}, document | {"response": None}):
        with pytest.raises(UserError, match="here"):
            Wording.from_json(broken, "here")


@pytest.mark.parametrize(
    ("turns", "tokens"),
    [([], [0]), (["", " "], [0]), (["Hi 😀", "you!"], [1, 3, 4, 0]), (["hi " * 40], [2, 2, 2, 0])],
)
def test_contexts_of_a_chat(turns: list[str], tokens: list[int]) -> None:
    assert WORDING.context(turns) == tokens


@pytest.mark.parametrize("name", ["seq2seq", "seq2seq-attention", "dc-mann", "dnc-single"])
def test_embeddings_begin_with_vectors(name: str) -> None:
    vectors = TokenVectors(torch.tensor([3, 2]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    config = ModelConfig(name=name, hidden=4, slots=2, word=4, embedding=2)
    torch.manual_seed(0)
    plain = build_model(config, TASK.input_size, TASK.output_size)
    torch.manual_seed(0)
    model = build_model(config, TASK.input_size, TASK.output_size, vectors=vectors)
    embeddings = [part for part in model.modules() if isinstance(part, nn.Embedding)]
    assert len(embeddings) == 2
    for embedding in embeddings:
        assert embedding.weight[[3, 2]].tolist() == [[1, 2], [3, 4]]
        assert embedding.weight.requires_grad
    others = [part for part in plain.modules() if isinstance(part, nn.Embedding)]
    for embedding, other in zip(embeddings, others, strict=True):
        assert torch.equal(embedding.weight[[0, 1, 4]], other.weight[[0, 1, 4]])
    with pytest.raises(UserError, match="word vectors of 3 numbers do not fit: write embedding=3"):
        begin_with(model, TokenVectors(torch.tensor([2]), torch.zeros(1, 3)))
