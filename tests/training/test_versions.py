"""What a record says of the program that made it."""

import subprocess
from pathlib import Path

from mnemon.training.versions import provenance, revision


def test_revision_of_a_file_that_git_knows(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    known, unknown = tmp_path / "known.py", tmp_path / "unknown.py"
    for file in (known, unknown):
        file.write_text("1", encoding="utf-8")
    assert revision(known) is None  # there is no repository
    git("init")
    git("add", "known.py")
    git("commit", "-m", "one")
    git("tag", "v9", "-m", "a tag")
    commit = git("rev-parse", "--short=12", "HEAD")
    revision.cache_clear()
    assert (revision(known), revision(unknown)) == (commit, None)
    known.write_text("2", encoding="utf-8")
    revision.cache_clear()
    assert revision(known) == f"{commit}-dirty"


def test_provenance_tells_the_revision() -> None:
    assert "revision" in provenance()
