"""All experiments as a site: an overview, and a page for each chapter of the thesis. It needs no network.

index.html          what there is, and how far it agrees with the thesis
chapter-N.html      the experiments of a chapter: tables, curves, pictures, commands
beyond.html         those that the thesis has not
"""

import re
from html import escape
from pathlib import Path

from mnemon.report.agreement import agreement
from mnemon.report.page import document, section
from mnemon.report.results import Results
from mnemon.report.tables import NONE
from mnemon.training.files import write_atomically

TITLE = "The thesis, run again"
OPEN = '<div class="table"><table class="overview">'
CHAPTERS = {
    "chapter-2": "Chapter 2: Taxonomy for memory in RNNs",
    "chapter-3": "Chapter 3: Memory-augmented neural networks",
    "chapter-4": "Chapter 4: Memory models for multiple processes",
    "chapter-5": "Chapter 5: Variational memory in generative models",
    "chapter-6": "Chapter 6: Optimal writing memory",
    "chapter-7": "Chapter 7: Neural stored-program memory",
    "beyond": "Beyond the thesis",
}


def write_site(experiments: list[Results], folder: Path) -> list[Path]:
    """Write the pages into a folder, which is made where there is none, and name them."""
    chapters: dict[str, list[Results]] = {name: [] for name in CHAPTERS}
    for results in experiments:
        chapters[chapter_of(results.description.thesis)].append(results)
    filled = {name: found for name, found in chapters.items() if found}
    pages = {"index": _overview(filled)} | {name: _chapter(name, found) for name, found in filled.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        write_atomically(folder / f"{name}.html", text.encode())
    return [folder / f"{name}.html" for name in pages]


def chapter_of(thesis: str) -> str:
    """The page that an experiment belongs to, by its place in the thesis."""
    found = re.search(r"(?:§|chapter )(\d)", thesis)
    page = f"chapter-{found[1]}" if found else "beyond"
    return page if page in CHAPTERS else "beyond"


def _overview(chapters: dict[str, list[Results]]) -> str:
    parts = [
        "<p>Every table and figure of the thesis that has been run, ours beside its. As good are the rows of a table"
        " whose mean is no worse than the thesis's by more than 3 points of a percentage, or 3 per cent of another"
        " number; in order are the pairs of models that the thesis ranks alike. The pages of the chapters say what is"
        " not, and why.</p>"
    ]
    head = "<tr><th>experiment</th><th>thesis</th><th>runs</th><th>seeds</th><th>as good</th><th>in order</th></tr>"
    for name, found in chapters.items():
        rows = "\n".join(_line(name, results) for results in found)
        parts.append(
            f'<h2><a href="{name}.html">{escape(CHAPTERS[name])}</a></h2>\n{OPEN}\n{head}\n{rows}\n</table></div>'
        )
    return document(TITLE, "\n".join(parts))


def _line(page: str, results: Results) -> str:
    described = results.description
    runs = {run.folder for row in results.rows for run in row.runs}
    link = f'<a href="{page}.html#{escape(described.experiment)}">{escape(described.title)}</a>'
    found = agreement(results)
    as_good = f"{found.as_good} of {found.rows}" if found.rows else NONE
    alike = f"{found.alike} of {found.pairs}" if found.pairs else NONE
    entries = (link, escape(described.thesis), str(len(runs)), str(len(results.seeds)), as_good, alike)
    return f"<tr>{''.join(f'<td>{entry}</td>' for entry in entries)}</tr>"


def _chapter(name: str, found: list[Results]) -> str:
    back = '<p><a href="index.html">All chapters</a></p>'
    return document(CHAPTERS[name], back + "\n".join(section(results) for results in found))
