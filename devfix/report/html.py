"""Pages of one file each: nothing is loaded from elsewhere, light and dark; no script runs but a page's own.

What a page's own script is, the page's policy says by its hash: another one that came in with other people's text
would not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from devfix import __version__

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["embedded", "on_screen", "rendered", "visible"]

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: Colours, window titles and links of a terminal.
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?)")
#: What in JSON could end the element that it stands in, or begin another.
_MARKUP = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def rendered(template: str, script: str = "", **values: Any) -> str:
    """A page of ``templates/``; what comes out of other people's programs goes through its filter ``visible``.

    ``script`` is the name of the script there that the page may run, as ``script.text``; ``script.policy`` is its hash.

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
    environment.filters.update(visible=visible, embedded=embedded)
    if script:
        text, _, _ = loader.get_source(environment, script)
        values["script"] = {"text": Markup(text), "policy": _policy(text)}
    return environment.get_template(template).render(version=__version__, **values)


def embedded(value: object) -> Markup:
    """Dicts, lists, strings and finite numbers as JSON for an element ``script`` of a type that does not run.

    Raises:
        ImportError: jinja2 is not installed.
        ValueError: a number is not finite.

    """
    from markupsafe import Markup

    return Markup(json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_MARKUP))


def visible(text: str) -> str:
    """Text out of other people's programs, without what a browser would not show."""
    return _UNPRINTABLE.sub("\ufffd", text)


def on_screen(text: str) -> str:
    """What a program printed, as a terminal would leave it: no colours, and of a line written over, the last state."""
    lines = _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return visible("\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
