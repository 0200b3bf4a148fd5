"""The programs: broken ones of the corpus that fail with a message, half of them real incidents in several files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["CORPUS", "Program", "chosen", "evenly_spaced", "programs"]

CORPUS = Path(__file__).parents[2] / "corpus"
_OTHER_FOLDERS = ("clean", "incidents", "notebooks", "port", "trace")
#: Settings of a case that the client's commands do not have.
_SPECIAL = {"devices", "path", "reference", "run_on", "setup", "setup_script", "torchrun"}


@dataclass(frozen=True)
class Program:
    """A broken program: its name, its folder, its case, and the number of its files."""

    name: str
    tree: Path
    case: dict[str, Any]
    files: int


def programs() -> list[Program]:
    """Return the broken programs that fail with a message when they are started without further settings."""
    found = []
    for path in sorted(CORPUS.glob("*/*/case.toml")):
        case, tree = tomllib.loads(path.read_text(encoding="utf-8")), path.parent / "broken"
        if case["kind"] == "broken" and case["error"] != "silent" and not _SPECIAL & case.keys():
            name = path.parent.relative_to(CORPUS).as_posix()
            found.append(Program(name, tree, case, sum(1 for _ in tree.rglob("*.py"))))
    return found


def chosen(number: int) -> list[Program]:
    """Return so many programs: half are incidents in several files, half are cases of the rules, evenly spaced."""
    every = programs()
    incidents = [each for each in every if each.name.startswith("incidents/") and each.files > 1]
    cases = [each for each in every if each.name.partition("/")[0] not in _OTHER_FOLDERS]
    return [*evenly_spaced(incidents, number // 2), *evenly_spaced(cases, number - number // 2)]


def evenly_spaced(items: Sequence[Program], number: int) -> list[Program]:
    """Return so many items at equal distances, in their order; all of them if there are fewer."""
    count = min(number, len(items))
    return [items[index * len(items) // count] for index in range(count)]
