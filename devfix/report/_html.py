"""Pages of one file each: nothing is loaded from elsewhere, no script runs, light and dark."""

from __future__ import annotations

import re
from typing import Any

from devfix import __version__

__all__ = ["rendered"]

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def rendered(template: str, **values: Any) -> str:
    """A page of ``templates/``; what comes out of other people's programs goes through its filter ``visible``.

    Raises:
        ImportError: jinja2 is not installed.

    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("devfix.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = _visible
    return environment.get_template(template).render(version=__version__, **values)


def _visible(text: str) -> str:
    """Text out of other people's programs, without what a browser would not show."""
    return _UNPRINTABLE.sub("\ufffd", text)
