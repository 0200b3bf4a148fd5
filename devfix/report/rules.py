"""Rule documentation for report formats: links and plain text."""

from __future__ import annotations

import re
from functools import cache

from devfix.site import page_url

__all__ = ["HOMEPAGE", "first_paragraph", "help_uri", "plain_text"]

#: devfix's home page.
HOMEPAGE = "https://pypi.org/project/devfix/"

_LINK = re.compile(r"\((https?://[^\s()]+)\)")


@cache
def help_uri(code: str) -> str:
    """Return the address of a rule's page; of a plugin's rule, its first reference, or devfix's home page."""
    from devfix.rules.builtin import builtin_rules
    from devfix.rules.registry import rule_for

    rule = rule_for(code)
    if rule in builtin_rules():
        return page_url(f"reference/rules/{code}")
    _, _, references = (rule.documentation if rule else "").partition("## References")
    found = _LINK.search(references)
    return found[1] if found else HOMEPAGE


def plain_text(documentation: str) -> str:
    """Return Markdown as plain text, with headings in capitals and indented code."""
    lines, in_code = [], False
    for line in documentation.strip().splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}".rstrip())
        else:
            lines.append(line.lstrip("#").strip().upper() if line.startswith("#") else line.replace("`", ""))
    return "\n".join(lines) + "\n"


def first_paragraph(documentation: str) -> str:
    """Return the first paragraph as plain text on one line."""
    for block in documentation.strip().split("\n\n"):
        text = " ".join(line for line in block.splitlines() if not line.startswith("#")).strip()
        if text:
            return text.replace("`", "")
    return ""
