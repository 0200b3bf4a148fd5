"""Root modules that were never moved: the outermost owner of misplaced weights, and its names."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.location import CallFrame, ConfiguredCall, ProgramPoint
from devfix.analysis.domain.objects import HeapObject, Module
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Function, Pointer, Value, alternatives
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scopes import value_of, visible
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.fixes.modules.owners import is_in_container, owners_of, parents_of
from devfix.fixes.modules.structural_changes import structural_change, weights_of
from devfix.syntax.tree import text_of

__all__ = [
    "RootModule",
    "chain_of",
    "container_names",
    "has_to_method",
    "is_made_by_program",
    "root_module_of",
    "root_names",
    "to_method",
    "unmoved_roots",
]


@dataclass(frozen=True, eq=False)
class RootModule:
    """The outermost module above misplaced weights; ``chain`` leads from it to the module that owns them.

    ``conditional_move`` is a move of the module on another path than the failing one.
    """

    chain: tuple[int, ...]
    allocated_at: ProgramPoint
    conditional_move: ProgramPoint | None = None

    @property
    def id(self) -> int:
        """The object id of the root module."""
        return self.chain[0]


def unmoved_roots(observations: Observations, mismatch: DeviceMismatch, operand: Operand) -> list[RootModule]:
    """Return the root modules of an operand's weights that the program never moves."""
    found = [root_module_of(observations, mismatch.point, part) for part in weights_of(operand)]
    return [root for root in found if root is not None]


def root_module_of(observations: Observations, point: ProgramPoint, part: Pointer) -> RootModule | None:
    """Return the outermost module above ``part`` that was never moved; ``None`` if the weights have another cause.

    Other rules report weights that were moved to the CPU explicitly, attached after the move of their model, or stored
    in a Python container.
    """
    state = point.state
    if state is None or not state.has(part.id) or structural_change(point, part) is not None:
        return None
    chain = chain_of(state, part)
    moved = state.at(part.id).last_moved_at
    if moved is not None and (CPU not in state.at(part.id).devices or moved not in observations.moves):
        return None
    if moved is None and any(state.at(key).devices == frozenset({ACCELERATOR}) for key in chain if key != part.id):
        return None
    if any(_is_in_plain_object(state, key) or is_in_container(state, key) for key in chain):
        return None
    allocated_at = state.at(chain[0]).allocated_at
    if allocated_at is None or not is_made_by_program(state, part):
        return None
    if moved is not None and _is_sent_to_cpu(observations, chain):
        return None
    return RootModule(tuple(chain), allocated_at, moved)


def _is_sent_to_cpu(observations: Observations, chain: list[int]) -> bool:
    """Whether the program moves one of some modules to the CPU itself: where it is needed is then no oversight."""
    for call, by_device in observations.device_assignments.items():
        assignment = by_device.get(CPU)
        if assignment is None or not isinstance(call.func, ast.Attribute):
            continue
        if isinstance(call.func.value, ast.Call) and text_of(call.func.value.func) == "getattr":
            return True  # a name that is computed may be any module's
        receiver = value_of(assignment.point, assignment.point.call_frame, call.func.value)
        if any(isinstance(option, Pointer) and option.id in chain for option in _options(receiver)):
            return True
    return False


def _options(value: Value | None) -> Iterable[Value]:
    return () if value is None else alternatives(value)


def is_made_by_program(state: State, part: Pointer) -> bool:
    """Whether a call in the program, or in its configuration, constructs the outermost module above ``part``.

    The analysis also instantiates classes that nothing uses; their instances have no construction to fix.
    """
    allocated_at = state.at(chain_of(state, part)[0]).allocated_at
    if allocated_at is None or isinstance(allocated_at.node, ConfiguredCall):
        return True
    return allocated_at.node in allocated_at.tree.parents


def chain_of(state: State, part: Pointer) -> list[int]:
    """Return the ids of the modules from the outermost one down to ``part``."""
    chain = [part.id]
    while True:
        parents = [key for key in parents_of(state, chain[0]) if key not in chain and not _is_wrapper(state, key)]
        if not parents:
            return chain
        chain.insert(0, parents[0])


def _is_wrapper(state: State, key: int) -> bool:
    """Whether a module is a wrapper such as ``DistributedDataParallel``, which leaves its module on its device."""
    obj = state.at(key)
    return isinstance(obj, Module) and obj.data_parallel


def _is_in_plain_object(state: State, key: int) -> bool:
    """Whether a plain object stored in a module holds it: a move of that module does not reach it."""
    return any(parents_of(state, keeper) for keeper in owners_of(state, key, InstanceObject))


def root_names(point: ProgramPoint, call_frame: CallFrame, root: RootModule) -> list[str]:
    """Return the names, in a call frame, of the root module or its largest part (``model``, ``self.net``)."""
    assert point.state is not None
    ranked: list[tuple[int, int, str]] = []
    for name, value in visible(point, call_frame).items():
        for option in alternatives(value):
            if not isinstance(option, Pointer) or not point.state.has(option.id):
                continue
            if option.id in root.chain:
                ranked.append((root.chain.index(option.id), 0, name))
                continue
            obj = point.state.heap_object(option)
            if not isinstance(obj, InstanceObject):
                continue
            ranked.extend(
                (root.chain.index(part.id), 1, f"{name}.{field}")
                for field, inner in obj.fields.items()
                for part in alternatives(inner)
                if isinstance(part, Pointer) and part.id in root.chain and field.isidentifier()
            )
    return list(dict.fromkeys(name for _, _, name in sorted(ranked)))


def container_names(point: ProgramPoint, call_frame: CallFrame, root: RootModule) -> list[str]:
    """Return the names of project objects that hold the root module and define ``to``."""
    assert point.state is not None
    state = point.state
    return [
        name
        for name, value in visible(point, call_frame).items()
        if name != "self"
        and any(
            isinstance(o, Pointer) and state.has(o.id) and _is_container_of(state, o.id, root.id)
            for o in alternatives(value)
        )
    ]


def _is_container_of(state: State, key: int, root_id: int) -> bool:
    obj = state.at(key)
    if not isinstance(obj, InstanceObject) or obj.cls is None:
        return False
    holds_root = any(
        isinstance(part, Pointer) and part.id == root_id for v in obj.fields.values() for part in alternatives(v)
    )
    return holds_root and has_to_method(state, obj)


def has_to_method(state: State, obj: HeapObject) -> bool:
    """Whether an object of a project class defines a ``to`` that takes a device."""
    return to_method(state, obj) is not None


def to_method(state: State, obj: HeapObject) -> Function | None:
    """Return the ``to`` method of a project class that takes a device; ``None`` if there is none."""
    bases = mro(obj.cls) if obj.cls is not None else ()
    own = (state.names(scope).get("to") for base in bases if (scope := getattr(base, "scope", None)))
    return next((method for method in own if isinstance(method, Function) and _takes_device(method)), None)


def _takes_device(method: Function) -> bool:
    """Whether a ``to`` method takes exactly one argument besides ``self``."""
    return isinstance(method.node, ast.FunctionDef) and len(method.node.args.args) == 2
