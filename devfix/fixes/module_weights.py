"""The weights of a module at a program point: whether it has parameters, and on which devices its weights are."""

from __future__ import annotations

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, Device, Pointer, Tensor, Value, alternatives
from devfix.analysis.torch.module_tree import is_loss

__all__ = ["has_parameters", "has_weights_on_accelerator", "weight_devices"]


def weight_devices(point: ProgramPoint, module: Pointer) -> frozenset[Device]:
    """Return the devices of the weights of a module and its submodules."""
    assert point.state is not None
    found: set[Device] = set()
    seen: set[int] = set()
    pending = [module]
    while pending:
        pointer = pending.pop()
        part = module_at(point.state, pointer) if pointer.id not in seen else None
        seen.add(pointer.id)
        if part is None:
            continue
        if part.weights:
            found |= part.devices
        options = (option for value in part.contents for option in alternatives(value))
        pending += [option for option in options if isinstance(option, Pointer)]
    return frozenset(found)


def has_weights_on_accelerator(point: ProgramPoint, module: Pointer) -> bool:
    """Return whether a module has parameters, and all its weights are on the accelerator."""
    assert point.state is not None
    return has_parameters(point.state, module) and weight_devices(point, module) == {ACCELERATOR}


def has_parameters(state: State, module: Pointer, seen: frozenset[int] = frozenset()) -> bool:
    """Return whether ``next(module.parameters())`` finds one: a loss of the project may have none."""
    obj = module_at(state, module)
    if obj is None or module.id in seen:
        return False
    if obj.weights and obj.cls is None:
        return not is_loss(obj)
    known = seen | {module.id}
    return any(  # of an attribute that may be ``None``, or one of several modules, each must have some
        all(
            has_parameters(state, part, known) if isinstance(part, Pointer) else _is_parameter(part)
            for part in alternatives(value)
        )
        for value in obj.contents
    )


def _is_parameter(value: Value) -> bool:
    return isinstance(value, Tensor) and any(origin.kind == "parameter" for origin in value.origins)
