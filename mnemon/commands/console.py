"""Where tables are printed."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 200  # characters, where nobody's window is too narrow for them


def table_console() -> "Console":
    """As wide as the window; in a file or a pipe as wide as any table, so that no number is cut."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else WIDE)
