"""Parts of SARIF logs shared by reports of findings and of migrations.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from devfix import __version__
from devfix.model import Severity
from devfix.report.rules import HOMEPAGE, first_paragraph, help_uri, plain_text

__all__ = ["LEVELS", "ROOT", "artifact", "driver", "header", "text_object", "uri_path"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

#: Base id of artifact locations: the root of the repository.
ROOT = "%SRCROOT%"

#: SARIF levels by severity value, as in the records of a migration.
LEVELS = {Severity.ERROR.value: "error", Severity.LATENT.value: "warning", Severity.ADVICE.value: "note"}

_PROBLEM_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}


def header() -> dict[str, Any]:
    """Return the properties that start a log."""
    return {"$schema": SCHEMA, "version": "2.1.0"}


def driver(codes: Iterable[str] | None = None, levels: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the tool component.

    Args:
        codes: codes of the rules to list; None for all.
        levels: default level by rule code, from the most severe finding; others are ``error``.

    """
    from devfix.rules.registry import all_rules

    wanted = None if codes is None else set(codes)
    rules = [rule for rule in all_rules() if rule.code in wanted] if wanted is not None else list(all_rules())
    return {
        "name": "devfix",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOMEPAGE,
        "rules": [_rule(rule, (levels or {}).get(rule.code, "error")) for rule in rules],
    }


def _rule(rule: Any, level: str) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": text_object(rule.summary),
        "fullDescription": text_object(first_paragraph(rule.documentation) or rule.summary),
        "help": {**text_object(plain_text(rule.documentation)), "markdown": rule.documentation.strip() + "\n"},
        "helpUri": help_uri(rule.code),
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["correctness", "device", "pytorch", rule.name],
            "precision": "medium" if rule.fallback else "high",
            "problem.severity": _PROBLEM_SEVERITIES[level],
        },
    }


def artifact(name: str, inside: bool = True) -> dict[str, Any]:
    """Return an artifact location.

    Args:
        name: path with forward slashes, relative to the root if ``inside``, else absolute.
        inside: whether the file is in the repository.

    """
    path = uri_path(name)
    return {"uri": path, "uriBaseId": ROOT} if inside else {"uri": f"file://{path}"}


def uri_path(name: str, safe: str = "/") -> str:
    """Percent-encode a path for a URI; undecodable bytes of a file name are kept."""
    try:
        return quote(name.encode("utf-8", "surrogateescape"), safe=safe)
    except UnicodeEncodeError:
        return quote(name.encode("utf-8", "replace"), safe=safe)


def text_object(text: str) -> dict[str, str]:
    """Return a SARIF object with the property ``text``; lone surrogates become ``?``."""
    return {"text": text.encode("utf-8", "replace").decode("utf-8")}
