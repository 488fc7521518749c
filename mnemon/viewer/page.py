"""One HTML file with all that it needs in it: styles, scripts and numbers.

The scripts in ``browser/`` are plain files that are put after one another in the order below, and share one scope.
Nothing is fetched: a policy in the page forbids it, and allows no script but this one. What users call things reaches
the page as JSON in which no ``<`` stands, and is only ever shown as text.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "elements.js",
    "numbers.js",
    "colours.js",
    "cursor.js",
    "panel.js",
    "plot.js",
    "heat.js",
    "curves.js",
    "tokens.js",
    "held.js",
    "matrix.js",
    "states.js",
    "story.js",
    "controls.js",
    "page.js",
)


def html_page(title: str, runs: Sequence[dict[str, Any]]) -> str:
    """The page of one run, or of several beside each other."""
    style, script = _read("style.css"), "\n".join(_read(name) for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; base-uri 'none'"
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{escape(title)}</title>\n<style>{style}</style>\n'
        f"</head>\n<body>\n<noscript>This page is drawn by JavaScript, which is switched off.</noscript>\n"
        f'<script type="application/json" id="document">{safe_json({"title": title, "runs": list(runs)})}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def safe_json(document: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element, or begins a comment."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _read(name: str) -> str:
    return (files("mnemon.viewer") / "browser" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
