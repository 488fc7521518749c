"""The site of the documentation is built without a warning, and its links lead somewhere."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parent.parent


class Links(HTMLParser):
    """What a page points to, and what can be pointed to in it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.targets += [value for name in ("href", "src") if (value := found.get(name))]
        if identifier := found.get("id"):
            self.anchors.add(identifier)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built beside the code that its pages point to."""
    pytest.importorskip("zensical")
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    for name in ("mnemon", "examples", "results"):
        (folder / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_every_page_is_in_the_menu_and_every_link_leads_somewhere(site: Path) -> None:
    menu = (ROOT / "zensical.toml").read_text()
    pages = {page: Links(page) for page in sorted(site.glob("*.html")) if page.name != "404.html"}
    assert {page.stem for page in pages} == {page.stem for page in (ROOT / "docs").glob("*.md")}
    for page, links in pages.items():
        assert f'"{page.stem}.md"' in menu
        for target in links.targets:
            split = urlsplit(target)
            if split.scheme or split.netloc:
                continue
            path = (page.parent / unquote(split.path)).resolve() if split.path else page.resolve()
            assert path.exists(), f"{page.name}: {target}"
            if split.fragment and path in pages:
                assert unquote(split.fragment) in pages[path].anchors, f"{page.name}: {target}"


def test_pages_ask_nobody_for_anything(site: Path) -> None:
    """No fonts and no scripts from elsewhere: the site works without a network."""
    for page in site.glob("*.html"):
        for tag in re.findall(r"<(?:script|link|img)[^>]*>", page.read_text()):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), tag


def test_the_reference_says_what_things_are(site: Path) -> None:
    text = (site / "reference.html").read_text()
    for name in ("MANN", "MemoryCell", "DNCMemory", "UniformWriting", "recommend", "save_pretrained"):
        assert name in text
