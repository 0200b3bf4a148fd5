"""Insertion of ``# devfix: ignore[CODE]`` where it suppresses the finding and changes nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.engine import suppressions
from devfix.lsp.documents import Text
from devfix.model import Finding

__all__ = ["ignored"]

_COMMENT = re.compile(r"#\s*devfix:\s*ignore\[(?P<codes>[^\[\]#]*)\]")


def ignored(text: str, finding: Finding) -> str | None:
    """Return the text with a comment that suppresses the finding; ``None`` if no line can have one."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    before = ast.dump(tree)
    lines = Text(text).lines
    for number in _candidates(tree, finding):
        changed = "".join([*lines[: number - 1], _with_comment(lines[number - 1], finding.code), *lines[number:]])
        if suppressions.collect(changed).match(finding.code, finding.span, finding.name) and _same(changed, before):
            return changed
    return None


def _candidates(tree: ast.Module, finding: Finding) -> Iterator[int]:
    """Yield lines that may get the comment: those of the finding, then of the innermost statement around it."""
    yield finding.span.line
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= finding.span.line <= (node.end_lineno or node.lineno)
    ]
    for node in sorted(around, key=lambda each: each.lineno, reverse=True):
        yield node.end_lineno or node.lineno
        yield node.lineno


def _with_comment(line: str, code: str) -> str:
    content = line.rstrip("\r\n")
    end = line[len(content) :]
    known = _COMMENT.search(content)
    if known is not None:
        listed = known["codes"].strip()
        return content[: known.start("codes")] + f"{listed}, {code}" + content[known.end("codes") :] + end
    return f"{content.rstrip()}  # devfix: ignore[{code}]{end}"


def _same(text: str, before: str) -> bool:
    try:
        return ast.dump(ast.parse(text)) == before
    except (SyntaxError, ValueError):
        return False
