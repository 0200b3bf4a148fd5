"""The table: signatures of every public name, aliases, and versions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from .aliases import aliases
from .drafts import TRUE
from .facts import Fact, facts
from .versions import PATH as VERSIONS_PATH
from .versions import VERSIONS

__all__ = ["CORRECTIONS", "PATH", "rows", "table", "text"]

PATH = Path(__file__).resolve().parents[3] / "devfix/models/aten.json"
CORRECTIONS = Path(__file__).with_name("corrections.json")


def _row(fact: Fact) -> str:
    """Write an overload as a Python signature with annotations."""
    parts: list[str] = []
    has_star = any(each.kind == "rest" for each in fact.draft.parameters)
    for each in fact.draft.parameters:
        if each.kind == "keyword" and not has_star:
            parts.append("*")
            has_star = True
        stars = {"rest": "*", "keywords": "**"}.get(each.kind, "")
        word = "bool" if each.word == TRUE else fact.words.get(each.name, each.word)
        default = each.optional and not stars
        if word:
            parts.append(f"{stars}{each.name}: {word}{'=...' if default else ''}")
        else:
            parts.append(f"{stars}{each.name}{'=...' if default else ''}")
    return f"({', '.join(parts)}) -> {fact.result}"


def rows(names: Iterable[str] | None = None) -> dict[str, list[str]]:
    """Return the signatures of public names, for all or for some; those that are corrected by hand come as they are."""
    found = {name: list(dict.fromkeys(map(_row, each))) for name, each in facts(names).items()}
    for name, correction in json.loads(CORRECTIONS.read_text(encoding="utf-8")).items():
        if name in found:
            found[name] = correction["signatures"]
    return {name: signatures for name, signatures in found.items() if signatures}


def table() -> dict[str, Any]:
    """Return the table."""
    found = rows()
    same = {name: target for name, target in aliases().items() if name in found and found[name] == found.get(target)}
    return {
        "torch": torch.__version__.partition("+")[0],
        "versions": list(VERSIONS),
        "functions": {name: signatures for name, signatures in found.items() if name not in same},
        "aliases": same,
        **json.loads(VERSIONS_PATH.read_text(encoding="utf-8")),
    }


def text(found: dict[str, Any]) -> str:
    """Write the table as JSON, one function per line."""
    parts = []
    for key, value in found.items():
        if isinstance(value, dict) and value:
            lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value[name])}" for name in sorted(value))
            parts.append(f" {json.dumps(key)}: {{\n{lines}\n }}")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
