"""Confirmed examples as text, one JSON document a line, for tests that run without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.knowledge.examples import Confirmed, Example, Operand, Placement, moved

__all__ = ["dumps", "loads"]


def dumps(examples: Iterable[Confirmed]) -> str:
    """Return the text of some examples, in their order."""
    return "".join(json.dumps(_document(each)) + "\n" for each in examples)


def loads(text: str) -> list[Confirmed]:
    """Return the examples of a text."""
    return [_confirmed(json.loads(line)) for line in text.splitlines()]


def _document(confirmed: Confirmed) -> dict[str, Any]:
    example = confirmed.example
    document = {
        "group": example.group,
        "name": example.name,
        "imports": example.imports,
        "setup": example.setup,
        "operands": {operand.name: _sources(operand) for operand in example.operands},
        "statement": example.statement,
        "repaired": sorted(confirmed.repaired),
        "broken": [sorted(placement) for placement in confirmed.broken],
        "mixed": [sorted(placement) for placement in confirmed.mixed],
    }
    return {key: value for key, value in document.items() if value}


def _sources(operand: Operand) -> str | tuple[str, str]:
    """Return an operand's source on the CPU, with that on the accelerator if it is no move."""
    is_moved = operand == moved(operand.name, operand.cpu)
    return operand.cpu if is_moved else (operand.cpu, operand.accelerator)


def _confirmed(document: dict[str, Any]) -> Confirmed:
    operands = tuple(
        moved(name, sources) if isinstance(sources, str) else Operand(name, *sources)
        for name, sources in document["operands"].items()
    )
    example = Example(
        document["group"],
        document["name"],
        operands,
        document["statement"],
        imports=tuple(document.get("imports", ())),
        setup=tuple(document.get("setup", ())),
    )
    return Confirmed(
        example,
        repaired=frozenset(document.get("repaired", ())),
        broken=_placements(document.get("broken", ())),
        mixed=_placements(document.get("mixed", ())),
    )


def _placements(found: Sequence[Sequence[int]]) -> tuple[Placement, ...]:
    return tuple(map(frozenset, found))
