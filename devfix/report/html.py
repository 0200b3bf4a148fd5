"""Self-contained HTML pages, light and dark.

The Content-Security-Policy of a page allows its own script by hash, and no other script and no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

from devfix import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["packed", "render_page", "script_json", "terminal_text", "visible"]

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: Terminal escape sequences: colours, window titles, links.
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?)")
#: Characters of JSON that could close a ``script`` element or open one.
_MARKUP = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def render_page(template: str, script: str = "", **values: Any) -> str:
    """Render a page of ``templates/``; templates pass untrusted text through the filter ``visible``.

    Args:
        template: file name in ``templates/``.
        script: file name of the page's script; the template gets ``script.text`` and its hash, ``script.policy``.
        values: variables of the template.

    Raises:
        ImportError: jinja2 is not installed.

    """
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader("devfix.report", "templates")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(visible=visible, script_json=script_json)
    if script:
        text, _, _ = loader.get_source(environment, script)
        values["script"] = {"text": Markup(text), "policy": _policy(text)}
    return environment.get_template(template).render(version=__version__, **values)


def script_json(value: object) -> Markup:
    """Return JSON that is safe inside ``<script type="application/json">``.

    Raises:
        ImportError: jinja2 is not installed.
        ValueError: a number is not finite.

    """
    from markupsafe import Markup

    return Markup(json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_MARKUP))


def packed(value: object) -> str:
    """Return compressed JSON in base64, for ``DecompressionStream("deflate")`` in the page.

    Raises:
        ValueError: a number is not finite.

    """
    raw = json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    return base64.b64encode(zlib.compress(raw)).decode("ascii")


def visible(text: str) -> str:
    """Replace unprintable characters of untrusted text by U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", text)


def terminal_text(text: str) -> str:
    """Return program output as a terminal shows it: without escape sequences, carriage returns applied."""
    lines = _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return visible("\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
