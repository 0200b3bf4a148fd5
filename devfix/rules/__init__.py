"""Rules: their definition, their registry, and the names that a plugin rule imports.

In: the `Observations` of one program (`devfix.analysis`). Out: `Finding` objects with fixes. The package may import
`devfix.model`, `devfix.sources`, `devfix.config` and `devfix.analysis` only; it loads ``codemods`` by name.

``docs/own-rules.md`` has an example of a plugin rule. The names in ``__all__`` are public: they change only in a minor
release, with an entry in the changelog. Everything else may change in any release.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.analysis import Observations
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import ACCELERATOR, CPU, Device
    from devfix.model import (
        AddKeyword,
        AppendCode,
        Applicability,
        Edit,
        Event,
        Finding,
        Fix,
        InsertStatement,
        MoveStatements,
        ReplaceExpression,
        ReplaceStatement,
        Severity,
        Span,
        Where,
    )
    from devfix.rules.rule import Example, Rule
    from devfix.syntax.tree import SourceTree

__all__ = [
    "ACCELERATOR",
    "CPU",
    "AddKeyword",
    "AppendCode",
    "Applicability",
    "Device",
    "Edit",
    "Event",
    "Example",
    "Finding",
    "Fix",
    "InsertStatement",
    "MoveStatements",
    "Observations",
    "ProgramPoint",
    "ReplaceExpression",
    "ReplaceStatement",
    "Rule",
    "Severity",
    "SourceTree",
    "Span",
    "Where",
]

#: The module that defines each name; names are imported on first use, so the registry does not import the analysis.
_DEFINED_IN = {
    "ACCELERATOR": "devfix.analysis.domain.values",
    "AddKeyword": "devfix.model",
    "AppendCode": "devfix.model",
    "CPU": "devfix.analysis.domain.values",
    "Edit": "devfix.model",
    "Event": "devfix.model",
    "Example": "devfix.rules.rule",
    "Observations": "devfix.analysis",
    "Finding": "devfix.model",
    "InsertStatement": "devfix.model",
    "MoveStatements": "devfix.model",
    "Device": "devfix.analysis.domain.values",
    "Fix": "devfix.model",
    "ReplaceExpression": "devfix.model",
    "ReplaceStatement": "devfix.model",
    "Rule": "devfix.rules.rule",
    "Applicability": "devfix.model",
    "Severity": "devfix.model",
    "ProgramPoint": "devfix.analysis.domain.location",
    "SourceTree": "devfix.syntax.tree",
    "Span": "devfix.model",
    "Where": "devfix.model",
}


def __getattr__(name: str) -> object:
    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_DEFINED_IN[name]), name)
