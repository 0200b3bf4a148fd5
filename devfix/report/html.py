"""Self-contained HTML pages, light and dark.

The Content-Security-Policy of a page allows its own style sheet and script by hash, and no other style, no other script
and no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

    from devfix.report.head import Head

__all__ = ["packed", "patch_link", "prose", "render_page", "script_json", "terminal_text", "visible"]

#: Of all pages.
_STYLES, _SCRIPTS = ("page.css", "code.css"), ("page.js",)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: Terminal escape sequences: colours, window titles, links.
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?)")
#: Characters of JSON that could close a ``script`` element or open one.
_MARKUP = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def render_page(
    template: str, head: Head, *, styles: Sequence[str] = (), scripts: Sequence[str] = (), **values: Any
) -> str:
    """Render a page of ``templates/``; templates pass untrusted text through the filter ``visible``.

    Args:
        template: file name in ``templates/``; it extends ``_page.html``.
        head: the head of the page.
        styles: file names of the page's style sheets, after those that all pages share.
        scripts: file names of the page's scripts, after the one that all pages share.
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
    environment.filters.update(visible=visible, script_json=script_json, patch_link=patch_link, prose=prose)

    def joined(names: Sequence[str]) -> str:
        return "".join(loader.get_source(environment, name)[0] for name in names)

    style, script = joined([*_STYLES, *styles]), joined([*_SCRIPTS, *scripts])
    return environment.get_template(template).render(
        head=head,
        style=Markup(style),
        script=Markup(script),
        policy=f"style-src {_hash(style)}; script-src {_hash(script)}",
        **values,
    )


def patch_link(patch: bytes) -> str:
    """Return a ``data:`` address with a patch, byte for byte."""
    return f"data:text/x-patch;base64,{base64.b64encode(patch).decode('ascii')}"


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


def prose(text: str) -> Markup:
    """Return untrusted text as markup in which `code` between backticks is code."""
    from markupsafe import Markup, escape

    parts = visible(text).split("`")
    if len(parts) % 2 == 0:  # a backtick without its pair
        return escape(visible(text))
    markup = (f"<code>{escape(part)}</code>" if at % 2 else str(escape(part)) for at, part in enumerate(parts))
    return Markup("".join(markup))


def terminal_text(text: str) -> str:
    """Return program output as a terminal shows it: without escape sequences, carriage returns applied."""
    lines = _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return visible("\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))


def _hash(text: str) -> str:
    """Return the source expression that allows an element with this text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
