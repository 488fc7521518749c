from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.data.documents import encode, hold_out, split_document
from mnemon.errors import UserError
from mnemon.tasks import Documents, FiniteTask, documents
from mnemon.tasks.documents import words_of
from tests.data.tiny_data import write_csv, write_glove

VECTORS = {"good": (1.0, 0.5), "bad": (-1.0, 2.0), "film": (0.25, 3.0), "rare": (9.0, 9.0)}
TRAIN = [(1, "bad film"), (2, "good"), (2, "a good good film"), *[(1, "bad")] * 6, (2, "rare film"), (1, "Bad bad !")]
TEST = [(2, "good rare film"), (1, "")]


def write_yelp(root: Path) -> None:
    write_csv(root / "yelp_review_polarity_csv" / "train.csv", TRAIN)
    write_csv(root / "yelp_review_polarity_csv" / "test.csv", TEST)
    write_glove(root / "glove.txt", VECTORS)


def parts(root: Path, longest: int | None = None) -> list[Documents]:
    write_yelp(root)
    splits = documents("yelp-polarity", root, longest=longest)
    assert all(isinstance(part, FiniteTask) for part in splits[:3])
    return [part for part in splits[:3] if isinstance(part, Documents)]


def test_the_splits(tmp_path: Path) -> None:
    train, validation, test = parts(tmp_path)
    assert (train.size, validation.size, test.size) == (10, 1, 2)
    assert validation.render(validation.batch_of(torch.tensor([0]))) == "· film\ntarget  positive"
    assert (train.input_size, train.output_size) == (2, 2)


def test_the_vocabulary_is_of_training_words_that_have_a_vector(tmp_path: Path) -> None:
    for part in parts(tmp_path):
        assert part.vocabulary == ("·", "good", "bad", "film")
        assert part.vectors.tolist() == [[0, 0], [1, 0.5], [-1, 2], [0.25, 3]]


@settings(deadline=None)
@given(
    rows=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    longest=st.none() | st.integers(1, 5),
)
def test_batches_against_a_loop(tmp_path_factory: pytest.TempPathFactory, rows: list[int], longest: int | None) -> None:
    task = parts(tmp_path_factory.mktemp("yelp"), longest)[0]
    kept = [document for number, document in enumerate(TRAIN) if number != 9]
    texts = [split_document(kept[row][1])[:longest] for row in rows]
    steps = max(map(len, texts))
    inputs, targets, mask = (
        torch.zeros(steps, len(rows), 2),
        torch.zeros(steps, len(rows), 2),
        torch.zeros(steps, len(rows)),
    )
    for b, words in enumerate(texts):
        for t, word in enumerate(words):
            inputs[t, b] = torch.tensor(VECTORS.get(word, (0.0, 0.0)))
        targets[len(words) - 1, b, kept[rows[b]][0] - 1] = 1
        mask[len(words) - 1, b] = 1
    batch = task.batch_of(torch.tensor(rows))
    assert torch.equal(batch.inputs, inputs)
    assert torch.equal(batch.targets, targets)
    assert torch.equal(batch.mask, mask)
    assert batch.lengths is not None
    assert batch.lengths.tolist() == [len(words) for words in texts]


def test_a_padded_row_equals_the_row_alone(tmp_path: Path) -> None:
    task = parts(tmp_path)[0]
    together = task.batch_of(torch.tensor([2, 1]))
    alone = task.batch_of(torch.tensor([1]))
    assert together.inputs.shape[0] == 4
    assert torch.equal(together.inputs[:1, 1:], alone.inputs)
    assert not together.inputs[1:, 1].any()


def test_every_document_once(tmp_path: Path) -> None:
    train, _, test = parts(tmp_path)
    sizes = [batch.mask.shape[1] for batch in train.examples(4)]
    assert sizes == [4, 4, 2]
    batch = next(test.examples(4))
    assert batch.lengths is not None
    assert batch.lengths.tolist() == [3, 1]  # the empty document is one unknown word
    assert batch.targets[batch.lengths - 1, torch.arange(2)].argmax(-1).tolist() == [1, 0]


def test_a_sample_depends_on_its_generator_only(tmp_path: Path) -> None:
    task = parts(tmp_path)[0]
    first = task.sample(50, torch.Generator().manual_seed(3))
    torch.rand(3)
    again = task.sample(50, torch.Generator().manual_seed(3))
    assert torch.equal(first.inputs, again.inputs)
    assert torch.equal(first.mask, again.mask)
    assert not torch.equal(first.targets.sum(0), task.sample(50, torch.Generator().manual_seed(4)).targets.sum(0))


def test_rendering(tmp_path: Path) -> None:
    task = parts(tmp_path)[0]
    batch = task.batch_of(torch.tensor([1, 2]))
    assert task.render(batch, 0, batch.targets) == "good\ntarget  positive\nanswer  positive"
    assert task.render(batch, 1, -batch.targets) == "· good good film\ntarget  positive\nanswer  negative ×"


@given(st.lists(st.text(alphabet="ab ", max_size=6), min_size=1, max_size=25))
def test_words_of_some_documents(texts: list[str]) -> None:
    numbers: dict[str, int] = {}
    kept, _ = hold_out(encode([(0, text) for text in texts], numbers))
    read = [split_document(text) or [""] for row, text in enumerate(texts) if row % 10 != 9]
    expected = [numbers[word] for words in read for word in words]
    assert words_of(kept).tolist() == expected


def test_a_given_file_of_vectors(tmp_path: Path) -> None:
    write_yelp(tmp_path)
    other = write_glove(tmp_path / "mine.txt", {"good": (1.0, 2.0, 3.0)})
    task = documents("yelp-polarity", tmp_path, glove=other).train
    assert task.input_size == 3


def test_errors(tmp_path: Path) -> None:
    write_yelp(tmp_path)
    with pytest.raises(UserError, match=r"^no document set is called 'yelp': .*write one of imdb, ag-news"):
        documents("yelp", tmp_path)
    with pytest.raises(UserError, match=r"^Documents\(longest=0\): write longest=1 or more$"):
        documents("yelp-polarity", tmp_path, longest=0)
    strange = write_glove(tmp_path / "mine.txt", {"zzz": (1.0,)})
    with pytest.raises(UserError, match=f"^{strange} has a vector for none of the words of Yelp Review Polarity$"):
        documents("yelp-polarity", tmp_path, glove=strange)
    write_csv(tmp_path / "yelp_review_polarity_csv" / "train.csv", TRAIN[:9])
    with pytest.raises(UserError, match="has 9 training documents of Yelp Review Polarity: ten or more are expected"):
        documents("yelp-polarity", tmp_path)
