"""What a record says of the program that made it."""

import subprocess
from pathlib import Path

from mnemon.training.versions import provenance, revision


def test_revision_is_what_git_says(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    assert revision(tmp_path) is None  # there is no repository
    git("init")
    assert revision(tmp_path) is None  # nor a commit
    (tmp_path / "one").write_text("1", encoding="utf-8")
    git("add", "one")
    git("commit", "-m", "one")
    commit = git("rev-parse", "--short=12", "HEAD")
    assert revision(tmp_path) == commit
    git("branch", "other/one")
    git("pack-refs", "--all")
    assert revision(tmp_path) == commit
    git("checkout", "--detach")
    assert revision(tmp_path) == commit
    (tmp_path / ".git/HEAD").write_bytes(b"\xff\xfe")
    assert revision(tmp_path) is None


def test_provenance_tells_the_revision() -> None:
    assert provenance()["revision"] == revision(Path(__file__).parents[2])
