"""Operations in which values must live together: where two known places meet, and where the result lives."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    OTHER,
    Birth,
    Place,
    Ref,
    Tensor,
    TupleValue,
    Union,
    Value,
    Yields,
    options,
)
from devfix.analysis.observations import Meeting, Operand

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["Side", "meet", "tensors_in", "weights_side"]


class Side:
    """One operand: its alternatives, each with its place and what a rule needs to know of it."""

    def __init__(
        self,
        alternatives: Sequence[tuple[Place, Operand]],
        scalar: bool = False,
        grad: bool = False,
        single: bool = False,
    ) -> None:
        self.alternatives = tuple(alternatives)
        self.places = frozenset(place for place, _ in self.alternatives)
        self.scalar = scalar
        self.grad = grad
        self.single = single

    def lies_elsewhere(self, place: Place) -> bool:
        """Whether every alternative is known to lie elsewhere; never so for one of its own places."""
        return bool(self.places) and all(place.differs(mine) for mine in self.places)


def tensor_side(value: Tensor | Union, text: str) -> Side:
    """A tensor operand; where it is none (``None``), nothing meets."""
    tensors = [option for option in options(value) if option != NONE]
    pairs = [
        (option.place, Operand(text, option.births, sure=option.sure))
        if isinstance(option, Tensor)
        else (ANYWHERE, Operand(text))
        for option in tensors
    ]
    known = [option for option in tensors if isinstance(option, Tensor)]
    scalar = len(known) == len(tensors) and all(option.scalar for option in known)
    single = len(known) == len(tensors) and all(option.single for option in known)
    return Side(pairs, scalar, grad=any(option.grad for option in known), single=single)


def weights_side(run: Interpreter, ref: Ref, text: str) -> Side:
    """A module's own weights as an operand."""
    record = run.record(ref)
    pairs = [(place, Operand(text, module=ref)) for place in sorted(record.places, key=lambda p: p.kind)]
    return Side(pairs, grad=run.grad_enabled and not record.get("frozen"))


def tensors_in(run: Interpreter, value: Value, text: str, depth: int = 0) -> list[Side]:
    """Every tensor in a value: the value itself, or what tuples, lists and dictionaries hold."""
    if isinstance(value, Tensor):
        return [tensor_side(value, text)]
    if isinstance(value, Union):
        if any(isinstance(option, Tensor) for option in value.options):
            return [tensor_side(value, text)]
        return []
    if depth > 3:
        return []
    if isinstance(value, TupleValue):
        return [side for item in value.items for side in tensors_in(run, item, text, depth + 1)]
    if isinstance(value, Yields):
        return tensors_in(run, value.element, text, depth + 1)
    if isinstance(value, Ref):
        record = run.record(value)
        if record.kind in ("list", "dict", "set", "batch", "bundle"):
            held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
            return [side for item in held for side in tensors_in(run, item, text, depth + 1)]
    return []


def meet(
    run: Interpreter,
    node: ast.AST,
    consumer: str,
    sides: Sequence[Side],
    opaque: bool = False,
    scalars_are_free: bool = False,
    written: Side | None = None,
) -> tuple[Place, tuple[Birth, ...]]:
    """Bring operands together: note a meeting of two places, and give the result's place and origins.

    A CPU scalar may join tensors of another device where ``scalars_are_free``, but not if it is ``written`` in place.
    A meeting is established when some alternative of one operand differs from *every* alternative of another: then a
    path exists on which they differ, whatever decides the alternatives.
    """
    cpu: list[Operand] = []
    accelerator: list[Operand] = []
    _note_kept(run, sides)
    against: dict[Place, list[Side]] = {}  # a large model has thousands of sides, in two places
    for one in sides:
        for place, operand in one.alternatives:
            if not place.known or (run.two and place == CPU):
                if operand.births and operand.births[0].kind == "load":
                    _note_load(run, node, operand, sides)
                continue
            if place not in against:
                against[place] = [side for side in sides if side.lies_elsewhere(place)]
            for other in against[place]:
                if scalars_are_free and (
                    (one.scalar and place == CPU and one is not written)
                    or (other.scalar and CPU in other.places and other is not written)
                ):
                    continue
                if run.two and CPU in other.places:
                    continue
                (accelerator if place == ACCELERATOR else cpu).append(operand)
                for theirs, partner in other.alternatives:
                    (accelerator if theirs == ACCELERATOR else cpu).append(partner)
    if cpu and accelerator:
        site = run.site(node, remember=True)
        numbers = scalars_are_free and (written is None or CPU not in written.places)
        run.facts.meetings.append(
            Meeting(site, consumer, _distinct(cpu), _distinct(accelerator), opaque, run.latent, numbers)
        )
        if run.two:  # as if the others had been brought to the first, which are a module's weights
            return next(iter(sides[0].places)) if len(sides[0].places) == 1 else ANYWHERE, ()
    return _result(sides)


def _note_kept(run: Interpreter, sides: Sequence[Side]) -> None:
    for side in sides:
        for _, operand in side.alternatives:
            for birth in operand.births:
                if birth.kind == "kept":
                    run.facts.kept_uses.setdefault(birth.key, set()).add("operand")


def _note_load(run: Interpreter, node: ast.AST, operand: Operand, sides: Sequence[Side]) -> None:
    from devfix.analysis.torch.checkpoints import note_birth

    note_birth(run, operand.births[0], "tensor", node, any(ACCELERATOR in side.places for side in sides))


def _distinct(operands: list[Operand]) -> tuple[Operand, ...]:
    seen: dict[tuple[object, ...], Operand] = {}
    for operand in operands:
        seen.setdefault((operand.text, operand.births, operand.module), operand)
    return tuple(seen.values())


def _result(sides: Sequence[Side]) -> tuple[Place, tuple[Birth, ...]]:
    dimensioned = [side for side in sides if not side.scalar and not _may_be_loaded_number(side)] or list(sides)
    places = {place for side in dimensioned for place in side.places}
    if ACCELERATOR in places and (len(places) == 1 or any(side.places == {ACCELERATOR} for side in dimensioned)):
        return ACCELERATOR, tuple(birth for birth in _origins(dimensioned, ACCELERATOR) if birth.kind == "moved")
    if places == {CPU}:
        return CPU, _origins(dimensioned, CPU)
    if any(side.places == {OTHER} for side in dimensioned):
        return OTHER, tuple(birth for birth in _origins(dimensioned, OTHER) if birth.kind == "moved")
    loads = (birth for side in dimensioned for _, operand in side.alternatives for birth in operand.births)
    return ANYWHERE, tuple(dict.fromkeys(birth for birth in loads if birth.kind == "load"))[:4]


def _may_be_loaded_number(side: Side) -> bool:
    """Whether it is an entry of a checkpoint of which nothing says that it is a tensor."""
    operands = [operand for _, operand in side.alternatives]
    return all(not operand.sure and any(birth.kind == "load" for birth in operand.births) for operand in operands)


def _origins(sides: Sequence[Side], place: Place) -> tuple[Birth, ...]:
    births = (
        birth for side in sides for theirs, operand in side.alternatives for birth in operand.births if theirs == place
    )
    return tuple(dict.fromkeys(births))[:4]
