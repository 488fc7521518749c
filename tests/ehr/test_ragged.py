import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.ehr.ragged import Ragged, from_lengths

LISTS = st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=6)


def pack(lists: list[list[int]]) -> Ragged:
    values = np.array([value for one in lists for value in one], dtype=np.int32)
    return from_lengths(values, np.array([len(one) for one in lists], dtype=np.int64))


def unpack(ragged: Ragged) -> list[list[int]]:
    bounds = zip(ragged.offsets[:-1], ragged.offsets[1:], strict=True)
    return [ragged.values[start:end].tolist() for start, end in bounds]


@settings(deadline=None)
@given(LISTS, st.data())
def test_against_lists(lists: list[list[int]], data: st.DataObject) -> None:
    ragged = pack(lists)
    assert unpack(ragged) == lists
    assert ragged.lengths.tolist() == [len(one) for one in lists]
    assert ragged.owners.tolist() == [row for row, one in enumerate(lists) for _ in one]
    chosen = data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists)))
    kept = [one for one, wanted in zip(lists, chosen, strict=True) if wanted]
    assert unpack(ragged.take(np.array(chosen, dtype=bool))) == kept
    assert unpack(ragged.keep(ragged.values % 2 == 0)) == [[value for value in one if value % 2 == 0] for one in lists]
    assert unpack(ragged.keep(ragged.firsts())) == [list(dict.fromkeys(one)) for one in lists]
