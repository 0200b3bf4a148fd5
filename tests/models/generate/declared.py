"""Roles of operands that no sample shows: from PyTorch's operator table, as the simulator reads it."""

from __future__ import annotations

from typing import Any

from devfix.simulator.cpu_scalars import CPU_SCALAR_FORBIDDEN, CPU_SCALAR_INPUTS
from devfix.simulator.kernels.table import Kernel, kernels

from . import schemas
from .drafts import Draft

__all__ = ["declared"]


def declared(name: str, draft: Draft) -> dict[str, str]:
    """Return the roles of an overload's operands, as far as its kernel checks devices itself."""
    operands = {_own(each) for each in draft.operands}
    for schema in schemas.overloads(name):
        arguments = {argument.name for argument in schema.arguments if "Tensor" in str(argument.type)}
        outputs = {argument.name for argument in schema.arguments if argument.is_out}
        if arguments - outputs == operands:
            kernel = kernels().get(schema.name + (f".{schema.overload_name}" if schema.overload_name else ""))
            if kernel is not None and kernel.cuda:
                return {each: _role(schema, kernel, _own(each)) for each in draft.operands}
    return {}


def _own(name: str) -> str:
    """A parameter's name in a schema."""
    return "self" if name == "input" else name


def _role(schema: Any, kernel: Kernel, name: str) -> str:
    base = schema.name.partition("::")[2].rstrip("_")
    if kernel.exact_same:
        keyword = any(argument.name == name and argument.kwarg_only for argument in schema.arguments)
        return "Any" if keyword else "On"
    if not kernel.iterator:
        return "Any"
    allowed = CPU_SCALAR_INPUTS.get(base)
    joins = name in allowed if allowed is not None else base not in CPU_SCALAR_FORBIDDEN
    return "Scalar" if joins else "On"
