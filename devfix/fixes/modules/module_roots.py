"""Modules that were never moved: the whole to which unmoved weights belong, and what it is called."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, CPU, Function, HeapObject, Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.analysis.scopes import visible
from devfix.fixes.modules.registered_containers import hides
from devfix.fixes.modules.structural_changes import parents_of, structural_change, weights_of

__all__ = [
    "RootModule",
    "chain_of",
    "containers_named",
    "is_made_by_program",
    "moves_itself",
    "own_mover",
    "unmoved",
    "whole_of",
    "roots_named",
]


@dataclass(frozen=True, eq=False)
class RootModule:
    """A module that nobody moved: ``chain`` leads from it down to the part whose weights were met.

    ``partly`` says that it was moved, on another path than the one that fails.
    """

    chain: tuple[int, ...]
    allocated_at: ProgramPoint
    partly: ProgramPoint | None = None

    @property
    def id(self) -> int:
        """The identity of the outermost module."""
        return self.chain[0]


def unmoved(observations: Observations, mismatch: DeviceMismatch, operand: Operand) -> list[RootModule]:
    """The wholes whose weights an operand is, as far as no move of theirs is in the program."""
    found = [whole_of(observations, mismatch.point, part) for part in weights_of(operand)]
    return [root for root in found if root is not None]


def whole_of(observations: Observations, point: ProgramPoint, part: Pointer) -> RootModule | None:
    """The outermost module above ``part`` that was never moved; ``None`` where another cause is at work.

    Weights that were sent to the CPU by hand, attached after the move of their model, or hidden in a list that a
    module keeps, are told of by other rules.
    """
    memory = point.state
    if memory is None or not memory.has(part.id) or structural_change(point, part) is not None:
        return None
    chain = chain_of(memory, part)
    moved = memory.at(part.id).last_moved_at
    if moved is not None and (CPU not in memory.at(part.id).devices or moved not in observations.moves):
        return None
    if moved is None and any(memory.at(key).devices == frozenset({ACCELERATOR}) for key in chain if key != part.id):
        return None
    if any(_hidden(memory, key) or hides(memory, key) for key in chain):
        return None
    allocated_at = memory.at(chain[0]).allocated_at
    if allocated_at is None or not is_made_by_program(memory, part):
        return None
    return RootModule(tuple(chain), allocated_at, moved)


def is_made_by_program(memory: State, part: Pointer) -> bool:
    """Whether some call of the program makes the outermost module above ``part``.

    Of a class that nothing uses, the flow makes an instance to look at it: where that lives is nobody's fault.
    """
    allocated_at = memory.at(chain_of(memory, part)[0]).allocated_at
    return allocated_at is None or allocated_at.node in allocated_at.tree.parents


def chain_of(memory: State, part: Pointer) -> list[int]:
    """The modules from the outermost one down to ``part``."""
    chain = [part.id]
    while True:
        above = [key for key in parents_of(memory, chain[0]) if key not in chain and not _wraps(memory, key)]
        if not above:
            return chain
        chain.insert(0, above[0])


def _wraps(memory: State, key: int) -> bool:
    """Whether a module is a wrapper that takes the module as it is: ``DistributedDataParallel``."""
    return bool(memory.at(key).get("data-parallel"))


def _hidden(memory: State, key: int) -> bool:
    """Whether a plain object that some module keeps holds it: moving that module passes by."""
    keepers = _holders(memory, key, ("instance",))
    return any(_holders(memory, keeper, ("module",)) for keeper in keepers)


def _holders(memory: State, key: int, kinds: tuple[str, ...]) -> list[int]:
    found = []
    for holder, obj in memory.heap_objects():
        if obj.kind in kinds:
            held = [*obj.fields.values(), *([obj.default_item] if obj.default_item is not None else [])]
            if any(
                isinstance(option, Pointer) and option.id == key for value in held for option in alternatives(value)
            ):
                found.append(holder)
    return found


def roots_named(point: ProgramPoint, call_frame: CallFrame, root: RootModule) -> list[str]:
    """What a level calls the whole, or the largest named piece of it: ``model``, ``self.net``, ``trainer.teacher``."""
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
            if obj.kind != "instance":
                continue
            ranked.extend(
                (root.chain.index(part.id), 1, f"{name}.{field}")
                for field, inner in obj.fields.items()
                for part in alternatives(inner)
                if isinstance(part, Pointer) and part.id in root.chain and field.isidentifier()
            )
    return list(dict.fromkeys(name for _, _, name in sorted(ranked)))


def containers_named(point: ProgramPoint, call_frame: CallFrame, root: RootModule) -> list[str]:
    """Names of project objects that keep the whole and have a ``to`` of their own."""
    assert point.state is not None
    memory = point.state
    return [
        name
        for name, value in visible(point, call_frame).items()
        if name != "self"
        and any(
            isinstance(o, Pointer) and memory.has(o.id) and _keeps(memory, o.id, root.id) for o in alternatives(value)
        )
    ]


def _keeps(memory: State, key: int, wanted: int) -> bool:
    obj = memory.at(key)
    if obj.kind != "instance" or obj.cls is None:
        return False
    held = any(isinstance(part, Pointer) and part.id == wanted for v in obj.fields.values() for part in alternatives(v))
    return held and moves_itself(memory, obj)


def moves_itself(memory: State, obj: HeapObject) -> bool:
    """Whether an object of the project has a ``to`` of its own that takes a device."""
    return own_mover(memory, obj) is not None


def own_mover(memory: State, obj: HeapObject) -> Function | None:
    """The ``to`` of an object of the project that takes a device; ``None`` where it has none."""
    bases = mro(obj.cls) if obj.cls is not None else ()
    own = (memory.names(scope).get("to") for base in bases if (scope := getattr(base, "scope", None)))
    return next((method for method in own if isinstance(method, Function) and _places(method)), None)


def _places(method: Function) -> bool:
    """Whether a ``to`` takes a device: one argument besides the object."""
    return isinstance(method.node, ast.FunctionDef) and len(method.node.args.args) == 2
