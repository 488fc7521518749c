"""Scores against slow loops of their definitions."""

import importlib.util
import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.tasks.spoken import Answered, measure
from mnemon.tasks.text_scores import Text, average_cosine, corpus_bleu, distinct, require_scores, sentence_bleu
from mnemon.tasks.wording import UNKNOWN
from mnemon.views import TokenVectors

TEXTS = st.lists(st.integers(2, 5), min_size=1, max_size=8).map(tuple)


def matches(answer: Text, right: Text, order: int) -> tuple[int, int]:
    """Clipped matches of n-grams, and how many n-grams there are."""
    grams = Counter(answer[first : first + order] for first in range(len(answer) - order + 1))
    wanted = Counter(right[first : first + order] for first in range(len(right) - order + 1))
    return sum(min(count, wanted[gram]) for gram, count in grams.items()), sum(grams.values())


def brevity(answer: int, right: int) -> float:
    return 1.0 if answer > right else math.exp(1 - right / answer)


def slow_method_7(answer: Text, right: Text, highest: int) -> float:
    if not set(answer) & set(right):
        return 0.0
    precisions, missed = [], 0
    for order in range(1, highest + 1):
        matched, count = matches(answer, right, order)
        precision = matched / max(1, count)
        if matched == 0 and len(answer) > 1:  # method 4
            missed += 1
            precision = math.log(len(answer)) / (2**missed * 5) / max(1, count)
        precisions.append(precision)
    matched, count = matches(answer, right, 5)
    after = [*precisions[1:], matched / max(1, count)]
    smoothed: list[float] = []
    for precision, following in zip(precisions, after, strict=True):  # method 5
        before = smoothed[-1] if smoothed else precisions[0] + 1
        smoothed.append((before + precision + following) / 3)
    mean = sum(math.log(precision) for precision in smoothed) / highest
    return brevity(len(answer), len(right)) * math.exp(mean)


@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS)
def test_sentence_bleu_is_method_7(answer: Text, right: Text) -> None:
    expected = [slow_method_7(answer, right, order) for order in (1, 2, 3, 4)]
    assert sentence_bleu(answer, right) == pytest.approx(expected)


def test_one_matching_word_in_ten() -> None:
    answer, right = tuple(range(2, 12)), (2, *range(20, 29))
    assert sentence_bleu(answer, right)[0] == pytest.approx(0.4)
    assert sentence_bleu((), right) == (0, 0, 0, 0)
    assert sentence_bleu((99,), right) == (0, 0, 0, 0)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.lists(st.integers(2, 4), max_size=6).map(tuple), TEXTS), min_size=1, max_size=4))
def test_corpus_bleu_is_of_all_counts(pairs: list[tuple[Text, Text]]) -> None:
    answers, rights = zip(*pairs, strict=True)
    said, wanted = sum(map(len, answers)), sum(map(len, rights))
    found = corpus_bleu(answers, rights)
    each = [[matches(*pair, order) for pair in pairs] for order in range(1, 5)]
    counts = [[sum(part) for part in zip(*found_in, strict=True)] for found_in in each]
    for order in range(1, 5):
        precisions = [matched / count if count else 0.0 for matched, count in counts[:order]]
        if all(precisions):
            mean = sum(map(math.log, precisions)) / order
            assert found[order - 1] == pytest.approx(brevity(said, wanted) * math.exp(mean))
    assert all(0 <= score <= 1 + 1e-9 for score in found)
    if said == 0:
        assert found == (0, 0, 0, 0)


def test_the_right_text_scores_most() -> None:
    texts = [(2, 3, 4, 5, 6), (7, 8, 9, 10)]
    assert corpus_bleu(texts, texts) == pytest.approx((1, 1, 1, 1))


def test_average_cosine() -> None:
    vectors = torch.tensor([[0, 0], [9, 9], [1, 0], [0, 1], [-1, 0]], dtype=torch.float32)
    known = torch.tensor([False, False, True, True, True])
    assert average_cosine((2, 3), (2, 3), vectors, known) == pytest.approx(1)
    assert average_cosine((2, 3, 1), (2,), vectors, known) == pytest.approx(math.sqrt(0.5))
    assert average_cosine((4,), (2, 2), vectors, known) == pytest.approx(-1)
    assert average_cosine((), (2,), vectors, known) == 0
    assert average_cosine((2,), (1,), vectors, known) == 0
    assert average_cosine((2, 4), (3,), vectors, known) == 0  # a mean of zero has no direction


def test_distinct() -> None:
    assert distinct([(2, 3, 2), (2, 3)], 1) == 2 / 5
    assert distinct([(2, 3, 2), (2, 3)], 2) == 2 / 3
    assert distinct([(), (2,)], 2) == 0


def test_answers_of_a_test() -> None:
    """Two contexts, two samples of each; what is of one sample of all contexts is averaged over the samples."""
    rights: list[Text] = [(2, 3, 4), (UNKNOWN, 5)]
    first = Answered([(2, 3, 4), (UNKNOWN, 6)], rights)
    second = Answered([(2, 3, 4), ()], rights)
    vectors = TokenVectors(torch.tensor([2, 3, 4, 5, 6]), torch.eye(5))
    found = measure([first, second], 2, vectors, tokens=7)
    whole = sentence_bleu((2, 3, 4), (2, 3, 4))
    assert found["bleu_1"] == pytest.approx(2 * whole[0] / 4)
    assert found["bleu_4"] == pytest.approx(2 * whole[3] / 4)
    assert found["a_glove"] == pytest.approx(2 / 4)  # the unknown word has no vector, the sixth is like no other
    expected = (corpus_bleu(first.answers, [(2, 3, 4), (-1, 5)])[0] + corpus_bleu(second.answers, rights)[0]) / 2
    assert found["corpus_bleu_1"] == pytest.approx(expected)
    assert found["distinct_1"] == 1
    assert (found["variety"], found["length"], found["empty"]) == (0.75, 2.0, 0.25)
    assert "a_glove" not in measure([first, second], 2, None, tokens=7)


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"answers in words are scored with nltk: pip install 'mnemon\[text\]'"):
        require_scores()
