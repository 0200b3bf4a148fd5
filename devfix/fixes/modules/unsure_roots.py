"""Root modules that are one of several that the program may make: an option, or the machine, decides."""

from __future__ import annotations

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import Module, Opaque
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import CPU, Pointer, Union, Value
from devfix.analysis.scopes import visible
from devfix.analysis.torch.module_tree import named_modules
from devfix.fixes.modules.module_roots import RootModule

__all__ = ["is_one_of_several"]


def is_one_of_several(point: ProgramPoint, root: RootModule) -> bool:
    """Return whether a name stands for the module, or for another one whose weights may be on the accelerator.

    An option, or the machine, chooses one of them: ``KINDS[kind](device=device)``.
    """
    state = point.state
    values = [value for frame in point.call_stack for value in visible(point, frame).values()]
    return state is not None and any(_is_beside_others(state, root, value) for value in values)


def _is_beside_others(state: State, root: RootModule, value: Value) -> bool:
    if not isinstance(value, Union):
        return False
    modules = [option for option in value.alternatives if isinstance(option, Pointer) and state.has(option.id)]
    others = [each for each in modules if each.id not in root.chain and not _holds(state, each, root)]
    return len(others) < len(modules) and any(_may_be_placed(state, each) for each in others)


def _holds(state: State, module: Pointer, root: RootModule) -> bool:
    """Return whether another module, such as a wrapper, contains the root module."""
    return any(part.id == root.id for _, part in named_modules(state, module))


def _may_be_placed(state: State, module: Pointer) -> bool:
    """Return whether some weights of a module may be on the accelerator, or its class is unknown."""
    parts = [state.heap_object(part) for _, part in named_modules(state, module)] or [state.heap_object(module)]
    return any(
        part.devices != {CPU} if isinstance(part, Module) and part.weights else isinstance(part, Opaque)
        for part in parts
    )
