"""What models said in return to held-out contexts (as thesis, Table 5.2), from the traces that runs leave.

A table for each setting: a context and the response that people gave, then the answers of each model's first run, the
samples of one model separated by ``/*/`` as in the thesis. No context is chosen.
"""

from html import escape
from typing import NamedTuple

from mnemon.report.results import Results
from mnemon.report.tables import as_text, table_line
from mnemon.report.traced import first_traces, part_of

SEPARATOR = " /*/ "
NOTHING = "(nothing)"


class Exchange(NamedTuple):
    """A context, and what was said in return by people and by each model."""

    context: str
    said: dict[str, str]


def exchanges(results: Results) -> dict[str, list[Exchange]]:
    """By setting, in the order of the contexts; empty where the experiment shows no samples."""
    found: dict[str, list[Exchange]] = {}
    for traced in first_traces(results) if results.description.shows == "samples" else []:
        samples = part_of(traced, "samples", {"context", "response", "answers"})
        contexts = found.setdefault(
            traced.setting, [Exchange(sample["context"], {"people": sample["response"]}) for sample in samples]
        )
        for exchange, sample in zip(contexts, samples, strict=True):
            exchange.said[traced.model] = SEPARATOR.join(answer or NOTHING for answer in sample["answers"])
    return found


def samples_as_html(results: Results) -> str:
    """Tables of the samples, or nothing."""
    tables = []
    for setting, contexts in exchanges(results).items():
        rows = [
            f"<tr{' class=new' if not number else ''}><td>{escape(exchange.context) if not number else ''}</td>"
            f"<td>{escape(speaker)}</td><td class=said>{escape(said)}</td></tr>"
            for exchange in contexts
            for number, (speaker, said) in enumerate(exchange.said.items())
        ]
        head = "<tr><th>context</th><th>by</th><th class=said>said in return</th></tr>"
        tables.append(f"<h3>{escape(setting)}</h3>\n<table class=samples>\n{head}\n" + "\n".join(rows) + "\n</table>")
    return "\n".join(tables)


def samples_as_markdown(results: Results) -> str:
    """The same as sections of a Markdown page."""
    sections = []
    for setting, contexts in exchanges(results).items():
        lines = [f"### {as_text(setting)}", "", "| context | by | said in return |", "| --- | --- | --- |"]
        for exchange in contexts:
            for number, (speaker, said) in enumerate(exchange.said.items()):
                lines.append(table_line((exchange.context if not number else "", speaker, said)))
        sections.append("\n".join(lines) + "\n")
    return "\n".join(sections)
