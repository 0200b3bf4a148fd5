"""Changes of a module's structure: submodules that are attached after the module was moved."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.analysis.domain.location import Site
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, Ref, options
from devfix.analysis.observations import Operand

__all__ = ["Change", "parents_of", "structural_change", "weights_of"]


@dataclass(frozen=True, eq=False)
class Change:
    """A part that was attached to a module after the module had been moved."""

    parent: Ref
    attached: Site
    moved: Site


def weights_of(operand: Operand) -> list[Ref]:
    """The modules whose weights an operand is."""
    owners = [Ref(birth.key) for birth in operand.births if birth.kind in ("parameter", "buffer") and birth.key]
    return [operand.module] if operand.module is not None else owners


def structural_change(site: Site, part: Ref) -> Change | None:
    """The change because of which ``part`` is not where the rest of its model is, if there is one."""
    memory = site.memory
    assert memory is not None
    seen: set[int] = set()
    level = [part.id]
    while level:
        upper: list[int] = []
        for key in level:
            if key in seen or not memory.has(key):
                continue
            seen.add(key)
            attached, own = memory.at(key).attached, memory.at(key).moved
            if attached is not None and own is not None and attached.order > own.order and _on_itself(attached, key):
                return Change(Ref(key), attached, own)
            for parent in parents_of(memory, key):
                moved = memory.at(parent).moved
                if attached is not None and moved is not None and attached.order > moved.order:
                    return Change(Ref(parent), attached, moved)
                upper.append(parent)
        level = upper
    return None


def _on_itself(attached: Site, key: int) -> bool:
    """Whether a parameter or buffer came to the module itself (it was on the accelerator then)."""
    memory = attached.memory
    return memory is not None and memory.has(key) and ACCELERATOR in memory.at(key).places


def parents_of(memory: State, key: int) -> list[int]:
    found = []
    for parent, record in memory.records():
        held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
        if record.kind == "module" and any(isinstance(o, Ref) and o.id == key for v in held for o in options(v)):
            found.append(parent)
    return found
