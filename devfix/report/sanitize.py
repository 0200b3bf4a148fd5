"""Text out of other people's files, made safe for a terminal and for one line."""

from __future__ import annotations

import re

__all__ = ["printable"]

# Control characters (a terminal obeys ESC), line separators, direction marks, and bytes that are not text.
_UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` on one line, with escapes in the place of characters that a terminal would obey."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
