"""What a rule of your own is made of: everything that it imports is here.

``docs/own-rules.md`` shows one.  What is not listed here may change in any release; what is listed, only in a minor
one, with a word in the changelog.
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
    "Edit",
    "Event",
    "Example",
    "Observations",
    "Finding",
    "InsertStatement",
    "MoveStatements",
    "Device",
    "Fix",
    "ReplaceExpression",
    "ReplaceStatement",
    "Rule",
    "Applicability",
    "Severity",
    "ProgramPoint",
    "SourceTree",
    "Span",
    "Where",
]

#: Where each name is defined; importing the registry must not import the analysis.
_HOMES = {
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
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
