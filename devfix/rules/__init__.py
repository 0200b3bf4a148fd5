"""Rules: their definition, their registry, and the names that a plugin rule imports.

In: the `Observations` of one program (`devfix.analysis`). Out: `Finding` objects with fixes. The package may import
`devfix.model`, `devfix.sources`, `devfix.config` and `devfix.analysis` only; it loads ``codemods`` by name.

``docs/how-to/own-rules.md`` has an example of a plugin rule. The names in ``__all__`` are public: they change only in a
minor release, with an entry in the changelog. Everything else may change in any release.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.analysis import Interpreter, Observations
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import ACCELERATOR, CPU, Device, Tensor
    from devfix.analysis.observations import Subscription
    from devfix.analysis.observations.execution import (
        AttributeRead,
        AttributeStored,
        CheckpointSaved,
        ExpressionStatement,
        FunctionCalled,
        LoopLeft,
        MethodCalled,
        ModuleMoved,
        OperandsCompared,
        OptimizerBuilt,
        TensorMoved,
    )
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
    "AttributeRead",
    "AttributeStored",
    "CheckpointSaved",
    "Device",
    "Edit",
    "Event",
    "Example",
    "ExpressionStatement",
    "Finding",
    "Fix",
    "FunctionCalled",
    "InsertStatement",
    "Interpreter",
    "LoopLeft",
    "MethodCalled",
    "ModuleMoved",
    "MoveStatements",
    "Observations",
    "OperandsCompared",
    "OptimizerBuilt",
    "ProgramPoint",
    "ReplaceExpression",
    "ReplaceStatement",
    "Rule",
    "Severity",
    "SourceTree",
    "Span",
    "Subscription",
    "Tensor",
    "TensorMoved",
    "Where",
]

#: The module that defines each name; names are imported on first use, so the registry does not import the analysis.
_DEFINED_IN = {
    "ACCELERATOR": "devfix.analysis.domain.values",
    "AddKeyword": "devfix.model",
    "AppendCode": "devfix.model",
    "Applicability": "devfix.model",
    "AttributeRead": "devfix.analysis.observations.execution",
    "AttributeStored": "devfix.analysis.observations.execution",
    "CheckpointSaved": "devfix.analysis.observations.execution",
    "CPU": "devfix.analysis.domain.values",
    "Device": "devfix.analysis.domain.values",
    "Edit": "devfix.model",
    "Event": "devfix.model",
    "Example": "devfix.rules.rule",
    "ExpressionStatement": "devfix.analysis.observations.execution",
    "Finding": "devfix.model",
    "Fix": "devfix.model",
    "FunctionCalled": "devfix.analysis.observations.execution",
    "InsertStatement": "devfix.model",
    "Interpreter": "devfix.analysis",
    "LoopLeft": "devfix.analysis.observations.execution",
    "MethodCalled": "devfix.analysis.observations.execution",
    "ModuleMoved": "devfix.analysis.observations.execution",
    "MoveStatements": "devfix.model",
    "Observations": "devfix.analysis",
    "OperandsCompared": "devfix.analysis.observations.execution",
    "OptimizerBuilt": "devfix.analysis.observations.execution",
    "ProgramPoint": "devfix.analysis.domain.location",
    "ReplaceExpression": "devfix.model",
    "ReplaceStatement": "devfix.model",
    "Rule": "devfix.rules.rule",
    "Severity": "devfix.model",
    "SourceTree": "devfix.syntax.tree",
    "Span": "devfix.model",
    "Subscription": "devfix.analysis.observations",
    "Tensor": "devfix.analysis.domain.values",
    "TensorMoved": "devfix.analysis.observations.execution",
    "Where": "devfix.model",
}


def __getattr__(name: str) -> object:
    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_DEFINED_IN[name]), name)
