"""Observations: what the interpreter observes in a program, and what rules and fixes read.

Some observations pass: the interpreter makes one whenever the program reads an attribute, calls a function or moves a
tensor (``execution``), and hands it to the rules that subscribe to its type (``subscriptions``).  The others are kept
in :class:`Observations`: those of the analysis, one file per concept, and the records of the rules' subscriptions.

May import the domain of the analysis.
"""

from __future__ import annotations

from devfix.analysis.observations.checkpoints import Loading, LoadUse
from devfix.analysis.observations.mismatches import DeviceMismatch, HostAccess, Operand
from devfix.analysis.observations.modules import (
    AttributeStore,
    ModuleReference,
    ParameterCopy,
    ShapeDependency,
)
from devfix.analysis.observations.optimizers import OptimizerHazard, Step
from devfix.analysis.observations.program import Observations
from devfix.analysis.observations.subscriptions import Evaluation, Observation, Subscription
from devfix.analysis.observations.tensors import (
    Binding,
    DataSource,
    DeviceAssignment,
    Transfer,
)

__all__ = [
    "AttributeStore",
    "Binding",
    "DataSource",
    "DeviceAssignment",
    "DeviceMismatch",
    "Evaluation",
    "HostAccess",
    "LoadUse",
    "Loading",
    "ModuleReference",
    "Observation",
    "Observations",
    "Operand",
    "OptimizerHazard",
    "ParameterCopy",
    "ShapeDependency",
    "Step",
    "Subscription",
    "Transfer",
]
