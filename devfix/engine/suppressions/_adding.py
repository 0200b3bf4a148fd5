"""Comments that suppress the findings of a run, added where they are read."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from devfix import sources
from devfix.model import FileChange, Finding, Patch, Problem
from devfix.sources import SourceError, SourceFile

__all__ = ["add_comments"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_HINT = "suppress it by hand: # devfix: ignore[CODE] on the first or last line of the statement"


def add_comments(
    files: Iterable[SourceFile], findings: Sequence[Finding]
) -> tuple[Patch, tuple[Finding, ...], tuple[Problem, ...]]:
    """Return the patch that adds ``# devfix: ignore[CODE]`` for each finding.

    A comment goes on the last line of the finding's statement.  It is added only if it suppresses the finding and
    leaves the program as it is.

    Returns:
        The patch, the findings without a comment, and the reasons.

    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    changes: list[FileChange] = []
    left: list[Finding] = []
    problems: list[Problem] = []
    for file in files:
        text = file.text
        for finding in by_path.get(file.path, ()):
            added = _with_comment(text, finding)
            if added is None:
                left.append(finding)
                problems.append(Problem(file.path, f"{finding.code} cannot be suppressed", finding.span.line, _HINT))
            else:
                text = added
        if text != file.text:
            try:
                changes.append(FileChange(file.path, file.raw, sources.encode(file, text)))
            except SourceError as error:
                left += by_path[file.path]
                problems.append(replace(error.problem, path=file.path))
    return Patch(tuple(changes)), tuple(left), tuple(problems)


def _with_comment(text: str, finding: Finding) -> str | None:
    """Return the text with a comment for a finding; ``None`` if there is no place for one."""
    from devfix.engine.suppressions import collect, own_comment

    known = collect(text)
    if known.match(finding.code, finding.span, finding.name):
        return text  # an earlier finding of the same rule in this statement
    lines = _starts(text)
    for number in sorted(known.lines_of(finding.span), reverse=True):
        end = _LINE_END.search(text, lines[number])
        stop = len(text) if end is None else end.start()
        line = text[lines[number] : stop]
        found = own_comment(line)
        if found is not None and found["codes"] is not None:
            at = lines[number] + found.end("codes")
            added = f"{text[:at]}{', ' if found['codes'].strip() else ''}{finding.code}{text[at:]}"
        else:
            at = lines[number] + len(line.rstrip())
            added = f"{text[:at]}  # devfix: ignore[{finding.code}]{text[stop:]}"
        if _is_same_program(text, added) and collect(added).match(finding.code, finding.span, finding.name):
            return added
    return None


def _starts(text: str) -> Mapping[int, int]:
    """Return the offset at which each line begins, by line number."""
    return dict(enumerate([0, *(found.end() for found in _LINE_END.finditer(text))], 1))


def _is_same_program(old: str, new: str) -> bool:
    try:
        return ast.dump(ast.parse(old)) == ast.dump(ast.parse(new)) and _comments(new) != _comments(old)
    except (SyntaxError, ValueError, tokenize.TokenError):
        return False


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]
