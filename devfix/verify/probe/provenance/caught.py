"""Device errors that did not end the run: the script caught them, or they ended a thread or a forked process."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

from ..failures import describe
from ..messages import device_family
from .frames import PROJECT
from .story import describe_failure
from .watching import Provenance

__all__ = ["CaughtErrors"]

_MOST_DESCRIBED = 4
#: Families of errors by which scripts find out whether there is an accelerator, and what it can do.
_PROBES = frozenset(("absent", "device-string", "float64", "operator", "ordinal"))
_INSTALLED = ("site-packages", "dist-packages")


class CaughtErrors:
    """Device errors of recorded calls, described at the moment at which they are raised.

    The values of the failing call may be gone at the end of the run, so the first errors are described at once.  Forked
    processes inherit the recorder, and append their errors to a file that the run reads at its end.

    Args:
        provenance: the recorder.
        root: the project's folder.

    """

    def __init__(self, provenance: Provenance, root: str) -> None:
        self._provenance = provenance
        self._root = root
        self._process = os.getpid()
        self._of_children = tempfile.TemporaryFile("a+b", buffering=0)  # noqa: SIM115 - open until the run ends
        self._described: list[tuple[BaseException, Any]] = []
        self._last: BaseException | None = None
        self._count = 0
        provenance.on_failed_call = self._note

    def _note(self, error: BaseException) -> None:
        if error is self._last or device_family(str(error)) in (None, *_PROBES):
            return
        self._last = error
        self._count += 1
        if self._count > _MOST_DESCRIBED:
            return
        raised = error.__traceback__
        error.__traceback__ = _with_callers(raised, sys._getframe())  # it has not left the failing call yet
        try:
            story = describe_failure(self._provenance, error)
            if story is not None and os.getpid() != self._process:
                self._send(error, story)
        finally:
            error.__traceback__ = raised
        self._described.append((error, story))

    def _send(self, error: BaseException, story: Any) -> None:
        """Pass an error of a forked process to the run."""
        fields = self._fields(error, story, 1)
        with suppress(OSError):  # the script closed the file
            self._of_children.write(
                json.dumps({**fields, "caught_in": multiprocessing.current_process().name}).encode() + b"\n"
            )

    def _fields(self, error: BaseException, story: Any, count: int) -> dict[str, Any]:
        return {"caught": describe(error, self._root), "caught_story": story, "caught_count": count}

    def report_fields(self, ending: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the first error that code of the project, a thread or a forked process caught.

        Errors that an installed package caught are left out.  If a device error ended the run, it is the story of that
        error in the forked process from which a pool passed it on.

        Args:
            ending: the exception that ended the run, as JSON.

        Returns:
            The error as ``caught``, its story as ``caught_story``, the number of errors as ``caught_count``, and the
            name of the forked process, if it was raised in one, as ``caught_in``; empty if there was none.

        """
        if ending is not None and ending["family"] is not None:
            return next(
                (
                    {"story": each["caught_story"]}
                    for each in self._received()
                    if each["caught"]["text"] == ending["text"]
                ),
                {},
            )
        for error, story in self._described:
            if story is not None and not self._is_caught_by_package(error.__traceback__):
                return self._fields(error, story, self._count)
        received = self._received()
        return {**received[0], "caught_count": len(received)} if received else {}

    def _received(self) -> list[dict[str, Any]]:
        """Return the errors of forked processes."""
        with suppress(OSError, ValueError):  # the script closed the file
            self._of_children.seek(0)
            return [json.loads(line) for line in self._of_children.read().splitlines()]
        return []

    def _is_caught_by_package(self, traceback: TracebackType | None) -> bool:
        """Whether the outermost frame of the traceback, which caught the error, is in an installed package."""
        if traceback is None:
            return True
        code = traceback.tb_frame.f_code
        return self._provenance.frames.kind(code) != PROJECT and any(name in code.co_filename for name in _INSTALLED)


def _with_callers(raised: TracebackType | None, inside: FrameType) -> TracebackType | None:
    """Return the traceback with the callers of its outermost frame, which has not passed the error on yet."""
    outermost = raised.tb_frame if raised is not None else inside
    frame, whole = outermost.f_back, raised
    while frame is not None:
        whole = TracebackType(whole, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return whole
