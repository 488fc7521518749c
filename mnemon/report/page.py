"""One self-contained HTML page and one Markdown page of experiments: tables, pictures, and how to repeat them."""

from html import escape
from itertools import compress
from pathlib import Path

from mnemon.errors import UserError
from mnemon.report.plots import pictures
from mnemon.report.remarks import remarks_as_html, remarks_as_markdown, with_code
from mnemon.report.results import Results
from mnemon.report.samples import samples_as_html, samples_as_markdown
from mnemon.report.tables import COLUMNS, NONE, cells, facts, markdown
from mnemon.training.files import write_atomically

TITLE = "Results beside the thesis's"
WORDS = 3  # columns that are there always: setting, model, ours
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
div.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
td.said, th.said, table.samples td:first-child { text-align: left; white-space: normal; }
table.overview { width: 100%; }
table.overview th { width: 4rem; }
table.overview th:first-child { width: auto; }
table.overview th:nth-child(2) { width: 36%; }
table.overview td:nth-child(-n+2) { white-space: normal; }
tr.new td { border-top: 2px solid #888; }
code { background: #8882; padding: .1rem .3rem; }
p.remark { max-width: 44rem; }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; background: #fff; }
"""


def write_pages(experiments: list[Results], out: Path) -> None:
    """Write ``out`` and, beside it, the same tables as Markdown."""
    if out.suffix == ".md":
        raise UserError(f"{out} is where the Markdown page goes: give the HTML page another name, such as report.html")
    if not out.parent.is_dir():
        raise UserError(f"there is no folder {out.parent}: make it first, or choose another --out")
    html = document(TITLE, "\n".join(section(results) for results in experiments))
    write_atomically(out, html.encode())
    write_markdown(experiments, out.with_suffix(".md"))


def write_markdown(experiments: list[Results], path: Path) -> Path:
    """All tables as one Markdown page."""
    write_atomically(path, _markdown_page(experiments).encode())
    return path


def write_pictures(experiments: list[Results], folder: Path) -> list[Path]:
    """Every picture as a file of its own, for pages elsewhere: NAME.svg, then NAME-2.svg, of each experiment."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}: make it first, or choose another for --pictures")
    drawn = {
        folder / f"{results.description.experiment}{f'-{number}' if number > 1 else ''}.svg": picture.svg
        for results in experiments
        for number, picture in enumerate(pictures(results), start=1)
    }
    for path, text in drawn.items():
        write_atomically(path, text.encode())
    return list(drawn)


def _markdown_page(experiments: list[Results]) -> str:
    sections = (
        part
        for results in experiments
        for part in (markdown(results) + remarks_as_markdown(results.remarks), samples_as_markdown(results))
        if part
    )
    return f"# {TITLE}\n\n" + "\n".join(sections)


def document(title: str, body: str) -> str:
    """A whole page."""
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n<h1>{escape(title)}</h1>\n{body}\n</html>\n"
    )


def section(results: Results) -> str:
    """An experiment: what it is, its table with remarks, what was said, its pictures."""
    stated = "".join(f"<li>{with_code(fact)}</li>" for fact in facts(results))
    shown = "\n".join(
        f"<figure>{picture.svg}<figcaption>{escape(picture.caption)}</figcaption></figure>"
        for picture in pictures(results)
    )
    title = escape(results.description.title)
    said = samples_as_html(results)
    name = escape(results.description.experiment)
    table = f"{_table(results)}\n{remarks_as_html(results.remarks)}"
    return f'<section id="{name}">\n<h2>{title}</h2>\n<ul>{stated}</ul>\n{table}\n{said}\n{shown}\n</section>'


def _table(results: Results) -> str:
    """Without the columns that say nothing of any row."""
    rows = [cells(row) for row in results.rows]
    shown = [number < WORDS or any(row[number] != NONE for row in rows) for number in range(len(COLUMNS))]
    head = "".join(f"<th>{escape(column)}</th>" for column in compress(COLUMNS, shown))
    body = []
    setting = None
    for row in results.rows:
        new = setting not in (None, row.described.setting)
        setting = row.described.setting
        entries = "".join(f"<td>{escape(cell)}</td>" for cell in compress(cells(row), shown))
        body.append(f'<tr class="new">{entries}</tr>' if new else f"<tr>{entries}</tr>")
    return f'<div class="table"><table>\n<tr>{head}</tr>\n' + "\n".join(body) + "\n</table></div>"
