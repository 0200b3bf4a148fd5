"""Text for terminals: the prefix of errors, and sanitizing of untrusted text."""

from __future__ import annotations

import re

__all__ = ["PREFIX", "printable"]

#: Begins each line about an error or a problem on standard error.
PREFIX = "devfix: "

# Control characters, line separators, bidirectional formatting characters, and surrogates.
_UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return ``text`` on one line, with control characters escaped."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
