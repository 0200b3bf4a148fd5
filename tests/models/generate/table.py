"""The table: signatures of every public name, aliases, and versions."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import torch

from devfix.simulator import Simulator

from . import schemas
from .aliases import aliases
from .declared import declared
from .drafts import OPERAND, Draft, Parameter, bind
from .names import METHODS, functions
from .overloads import overloads
from .probing import Evidence, probe
from .roles import result_word, role
from .samples import Sample, samples

__all__ = ["PATH", "table", "text"]

PATH = Path(__file__).resolve().parents[3] / "devfix/models/aten.json"


def _rendered(draft: Draft, words: dict[str, str], result: str) -> str:
    parts, keyword = [], False
    for each in draft.parameters:
        if each.kind == "keyword" and not keyword:
            keyword = True
            if not any(other.kind == "rest" for other in draft.parameters):
                parts.append("*")
        stars = {"rest": "*", "keywords": "**"}.get(each.kind, "")
        word = words.get(each.name, each.word)
        default = each.optional and not stars
        annotation = f": {word}" if word else ""
        parts.append(f"{stars}{each.name}{annotation}{(' = ...' if annotation else '=...') if default else ''}")
    return f"({', '.join(parts)}) -> {result}"


def _matching(name: str, drafts: list[Draft], found: list[Sample]) -> dict[int, list[Sample]]:
    matched: dict[int, list[Sample]] = {}
    for sample in found:
        for index, draft in enumerate(drafts):
            if bind(draft, sample.args, sample.kwargs) is not None:
                matched.setdefault(index, []).append(sample)
                break
    return matched


def _words(name: str, draft: Draft, evidence: Evidence) -> dict[str, str]:
    """Roles of operands: by probes, by the operator table, and ``Any`` where nothing says that devices are compared."""
    shown = {each for each in evidence.tensors if draft.parameter(each) is not None}
    names = [each.name for each in draft.parameters if each.name in {*draft.operands, *shown}]
    known = declared(name, draft) if len(names) > 1 else {}
    alone = len(names) == 1
    return {each: role(evidence, each) or known.get(each) or ("On" if alone else "Any") for each in names}


def _result(draft: Draft, found: str | None, words: dict[str, str]) -> str:
    first = next(iter(words), None)
    if draft.parameter("device") is not None and not draft.result.startswith(("tuple", "list")):
        return "Fresh[device]" if first is None else f"Like[{first}]"
    if found is not None:
        return found
    return draft.result.replace(OPERAND, "On") if words or OPERAND not in draft.result else "Any"


def _signatures(name: str, drafts: list[Draft]) -> list[str]:
    matched = _matching(name, drafts, samples().get(name, []))
    written = schemas.written(name)
    rows = []
    for index, draft in enumerate(drafts):
        evidence = probe(functions()[name], draft, matched.get(index, []))
        words = _words(name, draft, evidence)
        result = _result(draft, result_word(draft, evidence, words), words)
        base = name.rpartition(".")[2]
        if base.endswith("_") and not base.endswith("__") and draft.parameters[0].name in words:
            words[draft.parameters[0].name] = "Written"
        rows.append(_rendered(draft, words, result or "Any"))
    return list(dict.fromkeys(rows))


def table() -> dict[str, Any]:
    """Return the table."""
    all_overloads = overloads()
    samples()
    with warnings.catch_warnings(), Simulator():
        warnings.simplefilter("ignore")
        signatures = {name: _signatures(name, drafts) for name, drafts in all_overloads.items()}
    same = {name: target for name, target in aliases().items() if _equal(signatures, name, target)}
    signatures = {name: rows for name, rows in signatures.items() if name not in same}
    return {
        "torch": torch.__version__.partition("+")[0],
        "versions": [f"2.{minor}" for minor in range(4, 14)],
        "functions": signatures,
        "aliases": same,
        "since": {},
        "until": {},
    }


def _equal(signatures: dict[str, list[str]], name: str, target: str) -> bool:
    return name in signatures and signatures[name] == signatures.get(target)


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
