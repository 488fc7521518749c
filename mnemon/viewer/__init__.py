"""The viewer: a memory at work as one HTML page, from what :func:`mnemon.record_trace` has recorded."""

from mnemon.viewer.view import View, view_answer, view_trace

__all__ = ["View", "view_answer", "view_trace"]
