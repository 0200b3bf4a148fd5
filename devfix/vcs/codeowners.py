"""CODEOWNERS files of GitHub, GitLab, and Gitea and Forgejo: whose file is it?

The last line that matches a path names its owners.  GitLab applies this to each section, and a path has the owners of
all sections; in Gitea, a path has the owners of all lines that match.

- GitHub: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
- GitLab: https://docs.gitlab.com/user/project/codeowners/reference/
- Gitea: https://docs.gitea.com/usage/repository/code-owners
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["LOCATIONS", "CodeOwners", "Dialect"]

Dialect = Literal["github", "gitlab", "gitea"]

#: Where each forge looks for the file, in its order.
LOCATIONS: dict[Dialect, tuple[str, ...]] = {
    "github": (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"),
    "gitlab": ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"),
    "gitea": ("CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"),
}
_SECTION = re.compile(r"\^?\[(?P<name>[^\]]+)\](?:\[\d+\])?(?:\s+(?P<owners>.*))?")
_OWNER = re.compile(r"@{0,2}[\w.+-]+(?:[/@][\w.+-]+)*")
_SPACE = "\0"  # in place of an escaped space


class _Invalid(ValueError):
    """A line with a syntax that the forge does not accept."""


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    owners: tuple[str, ...] = ()
    excludes: bool = False  # GitLab: no later line of the section counts for these paths
    inverted: bool = False  # Gitea: all other paths

    def matches(self, path: str) -> bool:
        return (self.pattern.fullmatch(path) is None) is self.inverted


@dataclass(frozen=True)
class CodeOwners:
    """The owners of a repository's files.

    Attributes:
        sections: the rules in the order of the file; only GitLab has more than one section.
        unites: whether all rules that match count, instead of the last one.
        problems: line and message for each line that was skipped.

    """

    sections: tuple[tuple[_Rule, ...], ...]
    unites: bool = False
    problems: tuple[tuple[int, str], ...] = field(default=())

    @classmethod
    def parse(cls, text: str, dialect: Dialect) -> CodeOwners:
        """Return the owners of a file's text; lines with errors are skipped and reported, as the forge does."""
        problems: list[tuple[int, str]] = []
        sections: dict[str, list[_Rule]] = {"": []}
        defaults: dict[str, tuple[str, ...]] = {}
        name = ""
        for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
            try:
                heading = _SECTION.fullmatch(line.strip()) if dialect == "gitlab" else None
                if heading is not None:
                    name = heading["name"].strip().lower()
                    sections.setdefault(name, [])
                    defaults[name] = _owners(_words(heading["owners"] or ""))
                elif words := _gitea_words(line) if dialect == "gitea" else _words(line):
                    sections[name].append(_PARSERS[dialect](words, defaults.get(name, ())))
            except (_Invalid, re.error) as error:
                problems.append((number, str(error)))
        return cls(tuple(map(tuple, sections.values())), dialect == "gitea", tuple(problems))

    def of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a path, sorted, as the file writes them; empty if nobody owns it.

        Args:
            path: relative to the repository, with forward slashes.

        """
        found = {owner for section in self.sections for rule in self._counting(section, path) for owner in rule.owners}
        return tuple(sorted(found))

    def _counting(self, section: tuple[_Rule, ...], path: str) -> list[_Rule]:
        found = [rule for rule in section if rule.matches(path)]
        if any(rule.excludes for rule in found):
            return []
        return found if self.unites else found[-1:]


# --- lines ----------------------------------------------------------------------------------------------------------
def _words(line: str) -> list[str]:
    """Return pattern and owners; a word that begins with ``#`` begins a comment."""
    words = [word.replace(_SPACE, " ") for word in line.replace("\\ ", _SPACE).split()]
    comment = next((index for index, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _gitea_words(line: str) -> list[str]:
    """Return expression and owners; a backslash escapes any character."""
    parts = [""]
    characters = iter(line.strip())
    for character in characters:
        if character == "\\":
            parts[-1] += next(characters, "")
        elif character == "#":
            break
        elif character.isspace():
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def _owners(words: list[str]) -> tuple[str, ...]:
    wrong = next((word for word in words if not _OWNER.fullmatch(word)), None)
    if wrong is not None:
        raise _Invalid(f"{wrong!r} is not an owner")
    return tuple(words)


def _github_rule(words: list[str], _: tuple[str, ...]) -> _Rule:
    pattern, *owners = words
    if pattern.startswith(("!", "\\#")) or "[" in pattern:
        raise _Invalid(f"{pattern!r}: GitHub has no '!', '[ ]' and '\\#' in patterns")
    is_anchored = "/" in pattern[:-1]
    start = "" if is_anchored else "(?:.*/)?"
    end = "/.+" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.+)?"
    return _Rule(re.compile(start + _expression(pattern.strip("/")) + end, re.DOTALL), _owners(owners))


def _gitlab_rule(words: list[str], defaults: tuple[str, ...]) -> _Rule:
    pattern, *owners = words
    excludes = pattern.startswith("!")
    pattern = pattern.removeprefix("!").removeprefix("\\")
    start = "" if pattern.startswith("/") else "(?:.*/)?"
    end = ".+" if pattern.endswith("/") else ""
    expression = re.compile(start + _expression(pattern.removeprefix("/")) + end, re.DOTALL)
    return _Rule(expression, _owners(owners) or defaults, excludes)


def _gitea_rule(words: list[str], _: tuple[str, ...]) -> _Rule:
    pattern, *owners = words
    if not owners:
        raise _Invalid(f"{pattern!r} has no owner")
    try:
        expression = re.compile(pattern.removeprefix("!"))
    except re.error as error:
        raise _Invalid(f"{pattern!r} is not a regular expression: {error}") from error
    return _Rule(expression, _owners(owners), inverted=pattern.startswith("!"))


_PARSERS = {"github": _github_rule, "gitlab": _gitlab_rule, "gitea": _gitea_rule}


def _expression(pattern: str) -> str:
    """Return a regular expression for a pattern with ``*``, ``?`` and ``**``."""
    return "".join(_pieces(pattern))


def _pieces(pattern: str) -> Iterator[str]:
    last = len(segments := pattern.split("/")) - 1
    for index, segment in enumerate(segments):
        if segment == "**":
            yield ".+" if index == last else "(?:.*/)?"
            continue
        for part in re.split(r"(\*+|\?|\\.)", segment):
            if part.startswith("*"):
                yield "[^/]*"
            elif part == "?":
                yield "[^/]"
            else:
                yield re.escape(part[1:] if part.startswith("\\") and len(part) == 2 else part)
        yield "/" if index < last else ""
