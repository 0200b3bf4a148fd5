"""Parts of the pages about error messages that come from the table of wordings and from the rules.

A page of ``docs/errors`` has a comment where each part begins, and ``<!-- end -->`` where it ends::

    python -m reference_pages.errors        in docs: writes the parts into the pages
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from devfix.rules.registry import all_rules
from devfix.rules.rule import Rule
from devfix.verify.probe.messages import FAMILIES, MessageFamily

__all__ = ["FOLDER", "families_of", "refreshed", "rules_of"]

FOLDER = "errors"
_PART = re.compile(r"(<!-- part: (?P<name>[a-z]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def families_of(page: str) -> list[MessageFamily]:
    """Return the families that a page is about."""
    return [family for family in FAMILIES.values() if family.page == page]


def rules_of(page: str) -> list[Rule]:
    """Return the rules whose findings can end in the messages of a page."""
    families = families_of(page)
    return [rule for rule in all_rules() if any(family.is_end_of(rule.error_families) for family in families)]


def refreshed(text: str, page: str) -> str:
    """Return the text of a page with its parts as the table and the rules have them now."""
    return _PART.sub(lambda part: part[1] + "\n".join(["", *_PARTS[part["name"]](page), "", ""]), text)


def _causes(page: str) -> Iterator[str]:
    yield from dict.fromkeys(f"- {cause}" for family in families_of(page) for cause in family.causes)


def _wordings(page: str) -> Iterator[str]:
    yield from ("| message | versions | from |", "|---|---|---|")
    for family in families_of(page):
        for wording in family.wordings:
            source = f" ([report]({wording.source}))" if wording.source else ""
            yield f"| {_code(wording.text)} | {wording.versions} | {_cell(wording.origin)}{source} |"


def _rules(page: str) -> Iterator[str]:
    rules = rules_of(page)
    if not rules:
        yield "No rule of devfix finds the cause of this message."
        return
    yield from ("| rule | finds |", "|---|---|")
    yield from (f"| [{rule.code} {rule.name}](../reference/rules/{rule.code}.md) | {rule.summary} |" for rule in rules)


def _index(page: str) -> Iterator[str]:
    pages: dict[str, list[MessageFamily]] = {}
    for family in FAMILIES.values():
        pages.setdefault(family.page, []).append(family)
    yield from ("| message | meaning |", "|---|---|")
    for name, families in sorted(pages.items(), key=lambda item: item[1][-1].title.lower()):
        titles = "; ".join(_cell(family.title) for family in reversed(families))
        yield f"| [{titles}]({name}.md) | {_cell(families[-1].meaning)} |"
    yield from ("", "```{toctree}", ":hidden:", "", *sorted(pages), "```")


_PARTS: dict[str, Callable[[str], Iterable[str]]] = {
    "causes": _causes,
    "wordings": _wordings,
    "rules": _rules,
    "index": _index,
}


def _code(text: str) -> str:
    """Return a message as code in a cell of a table."""
    fence = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{fence}{space}{text.replace('|', chr(92) + '|')}{space}{fence}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    for path in sorted((Path(__file__).parents[1] / FOLDER).glob("*.md")):
        path.write_text(refreshed(path.read_text(encoding="utf-8"), path.stem), encoding="utf-8")
