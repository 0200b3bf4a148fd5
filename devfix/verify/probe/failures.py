"""Exceptions as JSON values."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from typing import Any

from .messages import device_family

__all__ = ["causes", "describe", "user_frame"]

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MOST_CAUSES = 10


def describe(error: BaseException, root: str) -> dict[str, Any]:
    """Return type, text, device family (of the error or one of its causes), the user's frame and the traceback.

    Args:
        error: the exception.
        root: the project's folder.

    """
    families = (device_family(str(each)) for each in causes(error))
    return {
        "type": type(error).__name__,
        "text": str(error)[:4000],
        "family": next((family for family in families if family is not None), None),
        "frame": user_frame(error, root),
        "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__))[-8000:],
    }


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes (``__cause__`` or ``__context__``), outermost first."""
    link: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if link is None:
            return
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def user_frame(error: BaseException, root: str) -> dict[str, Any] | None:
    """Return the traceback's deepest frame in the project; None if there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = os.path.abspath(frame.filename)
        if file.startswith(root + os.sep) and not file.startswith(_OWN_FOLDER) and "site-packages" not in file:
            return {"file": file, "line": frame.lineno, "function": frame.name, "code": frame.line}
    return None
