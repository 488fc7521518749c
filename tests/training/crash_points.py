"""Moments at which a run can die: before each thing it does that leaves a trace outside or changes what it holds."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from mnemon.native.rmsprop import RMSProp
from mnemon.training import record

PLACES: list[tuple[Any, str]] = [
    (RMSProp, "step"),
    (record.RecordWriter, "add"),
    (os, "fsync"),
    (Path, "replace"),
    (Path, "unlink"),
]


class CrashPoints:
    """While open, calls ``crash`` before the ``at``-th of all calls to the places, counted from 0."""

    def __init__(self, at: int | None, crash: Callable[[], None]) -> None:
        self.count = 0
        self._at = at
        self._crash = crash
        self._patches = [mock.patch.object(owner, name, self._counted(getattr(owner, name))) for owner, name in PLACES]

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            if self.count == self._at:
                self.count += 1  # whatever tidies up afterwards goes through
                self._crash()
            self.count += 1
            return original(*arguments, **keywords)

        return call

    def __enter__(self) -> "CrashPoints":
        for patch in self._patches:
            patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        for patch in self._patches:
            patch.stop()
