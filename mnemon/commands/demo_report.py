"""The report of ``mnemon demo``: its table, and pages on which the memory can be watched. None needs a network."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from mnemon.training.files import write_atomically
from mnemon.viewer import View

STYLE = """
:root { color-scheme: light dark; }
body { font: 17px/1.6 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem 1rem; text-align: right; border-bottom: 1px solid #8886; }
th:first-child, td:first-child { text-align: left; }
.watch { display: inline-block; padding: .6rem 1.2rem; border-radius: 8px; background: #0b5a9d; color: #fff;
  text-decoration: none; font-weight: 600; }
code { background: #8882; padding: .1rem .3rem; border-radius: 4px; }
"""
TEXT = """
<p>Both models were asked to repeat sequences twice as long as any they were trained on. The LSTM has only its state to
keep them in. The Neural Turing Machine writes them into slots, and reads them again in the same order.</p>
<p><a class="watch" href="memory.html">Watch the memory at work</a></p>
<p>Or <a href="beside.html">beside the LSTM</a>, on the same sequence: <code>mnemon view</code> makes such pages of any
trained model.</p>
"""


def write_report(
    out: Path, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], views: Sequence[View]
) -> Path:
    """Write the report and the pages beside it; the last view is that of the memory."""
    rival, memory = views
    memory.save(out / "memory.html")
    memory.beside(rival).save(out / "beside.html")
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    page = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style>\n'
        f"<h1>What a memory is good for</h1>\n<p>{escape(title)}.</p>\n<table>\n<tr>{head}</tr>\n{body}\n</table>\n"
        f"{TEXT}</html>\n"
    )
    report = out / "report.html"
    write_atomically(report, page.encode())
    return report
