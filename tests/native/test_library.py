"""Which of the built libraries is loaded."""

from pathlib import Path

import pytest

from mnemon.native.library import LIBRARY, VARIANTS, find, processor_flags

AVX2 = {"sse2", "avx", "avx2", "fma"}
AVX512 = AVX2 | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (AVX512, "libmnemon_avx512.so"),
        (AVX512 - {"avx512dq"}, "libmnemon_avx2.so"),
        (AVX2, "libmnemon_avx2.so"),
        (AVX2 - {"fma"}, "libmnemon.so"),
        (set(), "libmnemon.so"),
    ],
)
def test_the_best_that_the_processor_runs(tmp_path: Path, flags: set[str], expected: str) -> None:
    for name in VARIANTS:
        (tmp_path / name).touch()
    assert find(flags, [tmp_path]) == tmp_path / expected


def test_a_build_for_this_machine_has_one(tmp_path: Path) -> None:
    assert find(AVX512, [tmp_path]) is None
    (tmp_path / "libmnemon.so").touch()
    assert find(AVX512, [tmp_path / "nowhere", tmp_path]) == tmp_path / "libmnemon.so"


def test_flags_of_the_processor(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    assert processor_flags(cpuinfo) == set()
    cpuinfo.write_text(
        "processor\t: 0\nflags\t\t: sse2 avx2\nvmx flags\t: vnmi\n\nprocessor\t: 1\nflags\t\t: sse2 avx2\n"
    )
    assert processor_flags(cpuinfo) == {"sse2", "avx2"}


def test_what_is_loaded_is_what_was_found() -> None:
    found = find(processor_flags())
    assert LIBRARY is not None
    assert LIBRARY._name == str(found)
