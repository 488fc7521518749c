"""Watching a page in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


class Watched:
    """A page, and all that it complained of or asked for."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path) -> "Page":
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("body[data-drawn]", timeout=60_000)
        return self.page

    def is_quiet(self) -> bool:
        return not self.complaints and all(url.startswith("file:") for url in self.requests)


def step(page: "Page") -> int:
    """Where the cursor is."""
    return int(page.locator(".cursor").first.get_attribute("data-step") or -1)
