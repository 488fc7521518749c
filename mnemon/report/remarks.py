"""``remarks.md`` in the folder of an experiment: what did not come out as in the thesis, or as expected, and why.

It is written by hand, once, and shown under the experiment's table wherever that is shown. A paragraph is text with
code between backticks, and nothing else of Markdown: whatever the file holds, a page shows it as text.
"""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from mnemon.errors import UserError

NAME = "remarks.md"
MARKUP = str.maketrans({"<": "&lt;", "[": "&#91;", "{": "&#123;"})  # tags, links, attributes


def read_remarks(folder: Path) -> tuple[str, ...]:
    """The paragraphs, each on one line; none where there is no such file. What is no text becomes �."""
    path = folder / NAME
    try:
        text = path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return tuple("".join(_shown(letter) for letter in part) for part in paragraphs if part)


def remarks_as_html(remarks: Sequence[str]) -> str:
    """Paragraphs of a page."""
    return "\n".join(f'<p class="remark">{with_code(remark)}</p>' for remark in remarks)


def remarks_as_markdown(remarks: Sequence[str]) -> str:
    """Paragraphs for below a table, with an empty line before each and after the last; nothing where there are none."""
    return "".join(f"\n{_without_markup(remark)}\n" for remark in remarks) + ("\n" if remarks else "")


def with_code(text: str) -> str:
    """Text as HTML, of which every second part between backticks is code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _without_markup(remark: str) -> str:
    """Also at the beginning, where Markdown and what extends it take signs for headings, lists and more."""
    first, rest = remark[0], remark[1:]
    begin = first if first.isalnum() or first == "`" else f"&#{ord(first)};"
    return begin + rest.translate(MARKUP)


def _shown(letter: str) -> str:
    """A letter that can be seen; others may hide or turn what stands beside them."""
    return letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
