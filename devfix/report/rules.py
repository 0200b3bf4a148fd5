"""What formats say of rules: where they are explained, and their documentation without Markdown."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["HOME", "address", "paragraph", "plain"]

#: Where the tool is found.
HOME = "https://pypi.org/project/devfix/"

_LINK = re.compile(r"\((https?://[^\s()]+)\)")


@cache
def address(code: str) -> str:
    """A page that says more of what a rule is about: the first of its references."""
    from devfix.rules.registry import rule_for

    rule = rule_for(code)
    _, _, references = (rule.documentation if rule else "").partition("## References")
    found = _LINK.search(references)
    return found[1] if found else HOME


def plain(documentation: str) -> str:
    """Markdown without its marks: headings in capitals, code indented."""
    lines, in_code = [], False
    for line in documentation.strip().splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}".rstrip())
        else:
            lines.append(line.lstrip("#").strip().upper() if line.startswith("#") else line.replace("`", ""))
    return "\n".join(lines) + "\n"


def paragraph(documentation: str) -> str:
    """The first paragraph, without marks, on one line."""
    for block in documentation.strip().split("\n\n"):
        text = " ".join(line for line in block.splitlines() if not line.startswith("#")).strip()
        if text:
            return text.replace("`", "")
    return ""
