"""What ``trace`` does: the run, or the log, and the report."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from devfix.cli._failures import OneLine
from devfix.cli._verifying import one_line_errors, prepared

if TYPE_CHECKING:
    from devfix.trace.tracing import Trace

__all__ = ["trace_script"]


def trace_script(script: str, args: tuple[str, ...], output_format: str, **given: Any) -> int:
    """Run a script once, tell what its failure comes from, and return the exit code."""
    from devfix.cli._interrupts import interruptible
    from devfix.trace.tracing import trace

    need_jinja2(output_format)
    with interruptible(), one_line_errors():
        found = trace(prepared(script, args, **given))
    show(found, output_format)
    return found.exit_code


def need_jinja2(output_format: str) -> None:
    """Say in one line that pages need jinja2, where it is missing."""
    if output_format == "html" and find_spec("jinja2") is None:
        raise OneLine("--output-format html needs jinja2: pip install 'devfix[report]'")


def show(found: Trace, output_format: str) -> None:
    """Print what a run showed on standard output."""
    from devfix.report import trace

    if output_format == "json":
        from devfix.report import trace_json

        sys.stdout.write(trace_json.dumps(found))
    elif output_format == "html":
        from devfix.report import trace_html

        sys.stdout.buffer.write(trace_html.page(found).encode())
    else:
        trace.show(found)
    sys.stdout.flush()
