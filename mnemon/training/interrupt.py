"""Ctrl-C asks a run to stop at the end of its step; a second one stops it at once."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """The run was asked to stop and saved a checkpoint; the message says where, and how to go on."""


class StopRequest:
    """While open, SIGINT and SIGTERM only set ``wanted``: the loop looks at it between steps.

    Python delivers signals to the main thread only; elsewhere the request is never made.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._request) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _request(self, number: int, _frame: FrameType | None) -> None:
        if self.wanted:
            self._restore()
            signal.raise_signal(signal.Signals(number))
        self.wanted = True

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}
