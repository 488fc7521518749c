"""``make fuzz``: every reader with bytes that no writer would write, for ten minutes each.

With atheris, if it is installed, which looks for inputs that reach new code; otherwise with random changes. An input
that breaks a reader is written to ``build/fuzz/TARGET`` and the program fails.
"""

import argparse
import importlib.util
import random
import subprocess
import sys
import time
import warnings
from pathlib import Path

FOLDER = Path("build/fuzz")


def fuzz(name: str, seconds: float) -> int:
    """Fuzz one reader in this process; how many inputs it was given. It does not return under atheris."""
    corpus = FOLDER / name
    corpus.mkdir(parents=True, exist_ok=True)
    if importlib.util.find_spec("atheris") is not None:
        _with_atheris(name, seconds, corpus)
    from tests.fuzz.mutations import changed
    from tests.fuzz.seeds import SEEDS
    from tests.fuzz.targets import try_bytes

    chance, seed = random.Random(0), SEEDS[name]()
    end, tried = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = changed(seed, chance)
        try:
            try_bytes(name, data)
        except BaseException:
            (corpus / "crash").write_bytes(data)
            raise
        tried += 1
    return tried


def _with_atheris(name: str, seconds: float, corpus: Path) -> None:
    import atheris

    # An editable install has a finder whose modules atheris cannot follow; without it the checkout is imported.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    with atheris.instrument_imports(include=["mnemon"]):
        from tests.fuzz.seeds import SEEDS
        from tests.fuzz.targets import try_bytes
    if not type(sys.modules["mnemon.ehr.sources"].__loader__).__module__.startswith("atheris"):
        sys.exit("atheris does not see which code an input reaches: run this in the checkout")
    (corpus / "seed").write_bytes(SEEDS[name]())
    limits = [f"-max_total_time={int(seconds)}", "-max_len=8192", "-timeout=60", "-rss_limit_mb=4096"]
    atheris.Setup(
        [sys.argv[0], *limits, f"-artifact_prefix={corpus}/", str(corpus)], lambda data: try_bytes(name, data)
    )
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="all by default")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each target")
    parser.add_argument("--alone", action="store_true", help="one target, in this process")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.alone:
        print(f"{given.targets[0]}: {fuzz(given.targets[0], given.seconds):,} inputs", flush=True)
        return
    from tests.fuzz.targets import TARGETS

    failed = []
    for name in given.targets or TARGETS:
        print(f"{name}, {given.seconds:.0f} s", flush=True)
        alone = [sys.executable, "-m", "tests.fuzz", name, "--alone", "--seconds", str(given.seconds)]
        if subprocess.run(alone).returncode:
            failed.append(name)
    sys.exit(f"broken: {', '.join(failed)}; see {FOLDER}" if failed else 0)


if __name__ == "__main__":
    main()
