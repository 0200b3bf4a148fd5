"""Changes of a module's structure: submodules that are attached after the module was moved."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, Pointer, alternatives
from devfix.analysis.observations import Operand

__all__ = ["Change", "parents_of", "structural_change", "weights_of"]


@dataclass(frozen=True, eq=False)
class Change:
    """A part that was attached to a module after the module had been moved."""

    parent: Pointer
    attached: ProgramPoint
    moved: ProgramPoint


def weights_of(operand: Operand) -> list[Pointer]:
    """The modules whose weights an operand is."""
    owners = [
        Pointer(origin.site_id)
        for origin in operand.origins
        if origin.kind in ("parameter", "buffer") and origin.site_id
    ]
    return [operand.module] if operand.module is not None else owners


def structural_change(point: ProgramPoint, part: Pointer) -> Change | None:
    """The change because of which ``part`` is not where the rest of its model is, if there is one."""
    memory = point.state
    assert memory is not None
    seen: set[int] = set()
    call_frame = [part.id]
    while call_frame:
        upper: list[int] = []
        for key in call_frame:
            if key in seen or not memory.has(key):
                continue
            seen.add(key)
            attached, own = memory.at(key).attached_at, memory.at(key).last_moved_at
            if attached is not None and own is not None and attached.time > own.time and _on_itself(attached, key):
                return Change(Pointer(key), attached, own)
            for parent in parents_of(memory, key):
                moved = memory.at(parent).last_moved_at
                if attached is not None and moved is not None and attached.time > moved.time:
                    return Change(Pointer(parent), attached, moved)
                upper.append(parent)
        call_frame = upper
    return None


def _on_itself(attached: ProgramPoint, key: int) -> bool:
    """Whether a parameter or buffer came to the module itself (it was on the accelerator then)."""
    memory = attached.state
    return memory is not None and memory.has(key) and ACCELERATOR in memory.at(key).devices


def parents_of(memory: State, key: int) -> list[int]:
    found = []
    for parent, obj in memory.heap_objects():
        held = [*obj.fields.values(), *([obj.default_item] if obj.default_item is not None else [])]
        if obj.kind == "module" and any(isinstance(o, Pointer) and o.id == key for v in held for o in alternatives(v)):
            found.append(parent)
    return found
