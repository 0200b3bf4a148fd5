"""Redirects from the former addresses of pages, when all pages were in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["MOVED", "setup"]

#: former name of a page → its name now, both without a suffix
MOVED = {
    "accuracy": "explanation/accuracy",
    "bot": "how-to/bot",
    "clusters": "how-to/clusters",
    "conformance": "development/conformance",
    "editors": "how-to/editors",
    "flow": "explanation/devices",
    "formats": "reference/formats",
    "init": "how-to/init",
    "migrate": "how-to/migrate",
    "models": "how-to/models",
    "notebooks": "how-to/notebooks",
    "own-rules": "how-to/own-rules",
    "simulator": "explanation/simulator",
    "trace": "how-to/trace",
    "tutorial": "tutorials/first-repair",
    "verification": "development/verification",
    "verify": "how-to/verify",
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{target}">
<meta http-equiv="refresh" content="0; url={target}">
<p>This page has moved to <a href="{target}">{target}</a>.</p>
</html>
"""


def setup(app: Any) -> dict[str, bool]:
    """Write a page that redirects for each former name."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        for old, new in MOVED.items():
            target = f"{new}.html"
            Path(app.outdir, f"{old}.html").write_text(_PAGE.format(target=target), encoding="utf-8")
