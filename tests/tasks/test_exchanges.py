import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.tasks import Batch, OddEven, SumOfTwo, Task
from mnemon.tasks.exchanges import normalised_distance, sequence_metrics, until_end
from mnemon.tasks.odd_even import even_numbers


def draw(task: Task, rows: int, seed: int) -> Batch:
    return task.sample(rows, torch.Generator().manual_seed(seed))


def rows_of(batch: Batch, *, ended: bool = True) -> list[tuple[list[list[int]], list[int]]]:
    """The tokens of each view and of the answer, row by row; each must end where its length or mask says.

    An answer that is not ``ended`` must have no end.
    """
    assert batch.visits is not None
    (visit,) = batch.visits
    found = []
    for row in range(batch.mask.shape[1]):
        views = []
        for view, lengths in zip(visit.views, visit.lengths, strict=True):
            tokens = view[: int(lengths[row]), row].tolist()
            assert tokens[-1] == 0
            assert 0 not in tokens[:-1]
            views.append(tokens[:-1])
        asked = int(batch.mask[:, row].sum())
        assert batch.mask[:asked, row].all()
        answer = batch.targets[:asked, row].argmax(-1).tolist()
        if ended:
            assert answer.pop() == 0
        assert 0 not in answer
        found.append((views, answer))
    return found


def test_the_example_of_the_thesis() -> None:
    assert even_numbers([11, 7, 25, 39, 31, 1, 13]) == [22, 14, 50, 52, 54, 56, 58]
    assert even_numbers([5]) == [10]
    assert even_numbers([5, 9]) == [10, 12]


@given(st.integers(1, 25), st.integers(1, 4), st.integers(0, 1000))
def test_odd_even_against_a_loop(longest: int, rows: int, seed: int) -> None:
    task = OddEven(max_length=longest)
    batch = draw(task, rows, seed)
    assert batch.targets.shape[2] == task.output_size
    for (tokens,), answer in rows_of(batch):
        odd = [2 * token - 1 for token in tokens]
        assert 1 <= len(odd) <= longest
        assert len(set(odd)) == len(odd)
        assert set(odd) <= set(range(1, 50, 2))
        even: list[int] = []
        for n in range(1, len(odd) + 1):
            even.append(2 * odd[n - 1] if n <= len(odd) // 2 or n == 1 else even[n - 2] + 2)
        assert [2 * token for token in answer] == even


def test_the_largest_even_number_fits() -> None:
    largest = max(even_numbers([1] * 9 + [49] + [1] * 10))
    assert largest == 118
    assert largest // 2 < OddEven().output_size


@given(st.integers(1, 20), st.integers(1, 50), st.integers(1, 4), st.integers(0, 1000))
def test_sum_of_two_against_a_loop(longest: int, largest: int, rows: int, seed: int) -> None:
    task = SumOfTwo(max_length=longest, largest=largest)
    batch = draw(task, rows, seed)
    assert batch.targets.shape[2] == task.output_size
    found = rows_of(batch, ended=False)
    assert len({len(answer) for _, answer in found}) == 1  # one length for the batch
    for (first, second), answer in found:
        length = len(first)
        assert 1 <= length <= longest
        assert set(first + second) <= set(range(1, largest + 1))
        assert answer == [first[i - 1] + second[length + 1 - i - 1] for i in range(1, length + 1)]


def distance(a: list[int], b: list[int]) -> int:
    """Levenshtein's table, cell by cell."""
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            change = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, change)
    return table[-1][-1]


short = st.lists(st.integers(1, 3), max_size=6)


@given(short, short)
def test_distance_against_its_table(a: list[int], b: list[int]) -> None:
    assert normalised_distance(a, b) == pytest.approx(distance(a, b) / max(len(a), len(b), 1))


def test_metrics_cut_at_the_end() -> None:
    batch = draw(OddEven(max_length=4), 1, 3)
    perfect = sequence_metrics(batch.targets, batch)
    assert perfect == {"nld": 0.0, "accuracy": 1.0}
    length = len(batch.mask) - 1
    late = batch.targets.clone()
    late[length] = 0
    late[length, :, 5] = 1  # a token where the answer should end
    assert sequence_metrics(late, batch) == {"nld": pytest.approx(1 / (length + 1)), "accuracy": 1.0}
    empty = torch.zeros_like(batch.targets)
    empty[..., 0] = 1
    assert sequence_metrics(empty, batch) == {"nld": 1.0, "accuracy": 0.0}
    assert until_end([3, 0, 4]) == [3]
    assert until_end([3, 4]) == [3, 4]


def test_rendering_shows_the_tokens() -> None:
    batch = draw(SumOfTwo(max_length=3, largest=9), 1, 0)
    ((first, second), answer) = rows_of(batch, ended=False)[0]
    lines = SumOfTwo(max_length=3, largest=9).render(batch, 0, batch.targets).splitlines()
    expected = {"first": first, "second": second, "target": answer, "answer": answer}
    assert [line.split() for line in lines] == [[name, *map(str, tokens)] for name, tokens in expected.items()]


def test_a_part_of_the_rows_is_what_they_were() -> None:
    batch = draw(OddEven(), 5, 0)
    whole, part = rows_of(batch), rows_of(batch.every(2, 1))
    assert part == whole[1::2]
    assert rows_of(batch.to(torch.device("cpu"))) == whole


def test_lengths_that_cannot_be_are_refused() -> None:
    with pytest.raises(UserError, match=r"OddEven\(max_length=26\): write 25 or less"):
        OddEven(max_length=26)
    with pytest.raises(UserError, match="max_length"):
        SumOfTwo(max_length=0)
