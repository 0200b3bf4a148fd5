"""Parts of a SARIF log that reports of one run and of a migration share.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from devfix import __version__
from devfix.model import Severity
from devfix.report.rules import HOME, address, paragraph, plain

__all__ = ["LEVELS", "ROOT", "artifact", "driver", "encoded", "head", "text"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

#: The name of the folder that places are relative to.
ROOT = "%SRCROOT%"

#: Levels by severity; the keys are the words, as records of a migration have them.
LEVELS = {Severity.ERROR.value: "error", Severity.LATENT.value: "warning", Severity.ADVICE.value: "note"}

_PROBLEM_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}


def head() -> dict[str, Any]:
    """What a log begins with."""
    return {"$schema": SCHEMA, "version": "2.1.0"}


def driver(codes: Iterable[str] | None = None, levels: dict[str, str] | None = None) -> dict[str, Any]:
    """The tool, with the rules of these codes, or with all; ``levels`` says how severe the worst finding of each is."""
    from devfix.rules.registry import all_rules

    wanted = None if codes is None else set(codes)
    rules = [rule for rule in all_rules() if rule.code in wanted] if wanted is not None else list(all_rules())
    return {
        "name": "devfix",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOME,
        "rules": [_rule(rule, (levels or {}).get(rule.code, "error")) for rule in rules],
    }


def _rule(rule: Any, level: str) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": text(rule.summary),
        "fullDescription": text(paragraph(rule.documentation) or rule.summary),
        "help": {**text(plain(rule.documentation)), "markdown": rule.documentation.strip() + "\n"},
        "helpUri": address(rule.code),
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["correctness", "device", "pytorch", rule.name],
            "precision": "medium" if rule.fallback else "high",
            "problem.severity": _PROBLEM_SEVERITIES[level],
        },
    }


def artifact(name: str, inside: bool = True) -> dict[str, Any]:
    """Where a file is: ``name`` relative to the root with forward slashes, or absolute where it lies outside."""
    path = encoded(name)
    return {"uri": path, "uriBaseId": ROOT} if inside else {"uri": f"file://{path}"}


def encoded(name: str, safe: str = "/") -> str:
    """A name as a part of a URI; bytes that are no UTF-8 stay the bytes that they are."""
    try:
        return quote(name.encode("utf-8", "surrogateescape"), safe=safe)
    except UnicodeEncodeError:
        return quote(name.encode("utf-8", "replace"), safe=safe)


def text(words: str) -> dict[str, str]:
    """A message; what is no text in it becomes a replacement character."""
    return {"text": words.encode("utf-8", "replace").decode("utf-8")}
