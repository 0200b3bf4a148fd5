"""The JSON Lines report, documented by ``$defs/line`` of schema/report-2.json.

The first line is ``{"report": …}`` with mode, exit code and counts.  Each further line is ``{"finding": …}``,
``{"problem": …}`` or ``{"note": …}``, with the same content as in the JSON report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from devfix.report.findings.json import document

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["render"]

_LISTS = {"findings": "finding", "problems": "problem", "notes": "note"}


def render(view: View) -> str:
    """Return the lines in ASCII."""
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in _lines(view))


def _lines(view: View) -> Iterator[dict[str, Any]]:
    report = document(view.report, view.proof)
    yield {"report": {key: value for key, value in report.items() if key not in _LISTS}}
    for key, name in _LISTS.items():
        for item in report[key]:
            yield {name: item}
