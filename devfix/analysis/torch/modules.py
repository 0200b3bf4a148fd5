"""``nn.Module`` objects: their parts, their moves, their calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import attribute_stores, ineffective_moves
from devfix.analysis.domain.classes import member
from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    UNKNOWN,
    Birth,
    Const,
    Place,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Value,
    options,
    union,
)
from devfix.analysis.torch import optimizers
from devfix.analysis.transfer.device_check import Side, meet, tensors_in, weights_side
from devfix.models.index import behaviour
from devfix.models.tensor_methods import EVERY_MODULE_HAS
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Site
    from devfix.analysis.interpreter import Interpreter

__all__ = [
    "COMPUTED",
    "any_place",
    "attach",
    "call_leaf",
    "child",
    "children",
    "first_place",
    "forget",
    "is_opaque",
    "make",
    "move",
    "moved_field",
    "note_own",
    "parts",
    "promote",
]

_HELD = ("parameter", "buffer")
COMPUTED = "*computed"  # the field that stands for all buffers whose names are computed


def make(
    run: Interpreter, name: str, node: ast.AST, place: Place | None = None, weights: bool = True, **fields: Value
) -> Ref:
    """A module of the library class ``name``."""
    places = frozenset({place or run.default_place})
    record = Record("module", name, fields=dict(fields), places=places, weights=weights, born=run.site(node))
    if place is not None and place != CPU:
        run.facts.accelerated |= place == ACCELERATOR
    return run.new(record)


def is_opaque(record: Record) -> bool:
    """Whether a module has parts that devfix cannot see."""
    return record.cls is None and record.get("opaque", False)


def children(run: Interpreter, record: Record) -> Iterator[tuple[str, Ref]]:
    """Registered submodules by name."""
    named = [*record.fields.items(), *([("*", record.rest)] if record.rest is not None else [])]
    for name, value in named:
        for option in options(value):
            if isinstance(option, Ref) and run.record(option).kind == "module":
                yield name, option


def parts(run: Interpreter, ref: Ref, path: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Ref]]:
    """A module and all modules below it, with their dotted paths."""
    seen = set() if seen is None else seen
    if ref.id in seen:
        return
    seen.add(ref.id)
    yield path, ref
    for name, inner in children(run, run.record(ref)):
        yield from parts(run, inner, f"{path}.{name}" if path else name, seen)


def move(run: Interpreter, ref: Ref, place: Place, node: ast.AST) -> None:
    """``module.to(...)``: in place, with everything that is registered below."""
    site = run.site(node, remember=True)
    run.facts.accelerated |= place == ACCELERATOR
    if place == ACCELERATOR:
        run.facts.moves.append(site)
    moved = [part for _, part in parts(run, ref)]
    optimizers.note_move(run, moved, place, site)
    for part in moved:
        record = run.record(part)
        own = _moves_itself(run, record)
        fields = {name: moved_field(value, place, own) for name, value in record.fields.items()}
        run.now.write(part.id, replace(record, fields=fields, places=frozenset({place}), moved=site))


def moved_field(value: Value, place: Place, own: bool = False) -> Value:
    """What an attribute holds after its module has moved: parameters and buffers go along.

    ``own``: the class itself says what moves.
    """
    if isinstance(value, Tensor) and any(birth.kind in _HELD and not birth.holder for birth in value.births):
        return replace(value, place=place)
    if own and isinstance(value, Tensor):
        return replace(value, place=ANYWHERE, births=())
    return value


def _moves_itself(run: Interpreter, record: Record) -> bool:
    """Whether a class says itself what moves with its instances: every ``Module.to()`` goes through ``_apply``."""
    return record.cls is not None and member(run, record.cls, "_apply") is not None


def forget(run: Interpreter, ref: Ref) -> None:
    """A module went through code that devfix cannot read: weights that were on the CPU may be anywhere now."""
    for _, part in parts(run, ref):
        record = run.record(part)
        if CPU in record.places:
            run.now.update(part, places=frozenset({ANYWHERE}))


def attach(
    run: Interpreter,
    parent: Ref,
    name: str | None,
    value: Value,
    node: ast.AST,
    weak: bool = False,
    source: ast.expr | None = None,
) -> None:
    """``parent.name = value`` or ``parent[name] = value``; ``name`` is ``None`` where it is not known.

    ``source`` is the expression that gave the value.
    """
    site = run.site(node, remember=True)
    ineffective_moves.note_leaf_use(run, value, "attribute", node)
    record = run.record(parent)
    if name is not None and name.lstrip("-").isdigit() and int(name) < 0 and record.fields and record.rest is None:
        numbered = [key for key in record.fields if key.isdigit()]
        name = str(len(numbered) + int(name)) if numbered else name
    for option in options(value):
        if name in EVERY_MODULE_HAS or name == "forward":
            break  # a method that is replaced on the object
        if isinstance(option, Ref) and run.record(option).kind in ("module", "opaque"):
            promote(run, option)
            run.now.update(option, attached=site)
            _set_info(run, option, "parent", parent)
            _set_info(run, option, "slot", name or "*")
            old = run.record(parent).fields.get(name) if name is not None else None
            optimizers.note_attach(run, parent, option, old, site)
    record = run.record(parent)
    inherited = record.cls is None or (name in _OWN_TENSORS and name not in record.fields)
    if inherited and record.weights and _taken_over(name, value):  # a new layer takes over weights
        run.now.update(parent, places=frozenset({value.place if isinstance(value, Tensor) else ANYWHERE}))
    elif isinstance(value, Tensor) and name in record.get("buffers", frozenset()):
        if value.place != CPU or record.moved is None:  # what a buffer's name is given is the buffer from now on
            value = replace(value, births=(Birth("buffer", parent.id),))
    elif _is_parameter(value, source):
        assert isinstance(value, Tensor)
        note_own(run, parent, value.place, site)
        value = replace(value, births=(Birth("parameter", parent.id),))
        run.now.update(
            parent, weights=True, places=record.places | {value.place} if record.weights else frozenset({value.place})
        )
    elif name is not None and record.cls is not None:
        value = attribute_stores.keep(run, parent, name, value, node, source, site)
    if name is None:
        record = run.record(parent)
        run.now.update(parent, rest=value if record.rest is None else union((record.rest, value)))
    else:
        old = record.fields.get(name)
        run.now.put(parent, name, union((old, value)) if weak and old is not None else value)


_OWN_TENSORS = ("weight", "bias", "running_mean", "running_var")


def _taken_over(name: str | None, value: Value) -> bool:
    """Whether a layer of PyTorch is given weights or statistics that may live elsewhere than on the CPU."""
    if isinstance(value, Tensor):
        return value.place != CPU
    return name in _OWN_TENSORS and not isinstance(value, (Const, Ref))


def _is_parameter(value: Value, source: ast.expr | None) -> bool:
    return (
        isinstance(value, Tensor)
        and any(birth.kind == "parameter" for birth in value.births)
        and not attribute_stores.is_plain(value.births, source)
    )


def note_own(run: Interpreter, ref: Ref, place: Place, site: Site) -> None:
    """A parameter or buffer of a module's own comes on the CPU after the module was moved."""
    record = run.record(ref)
    if place == CPU and record.moved is not None and ACCELERATOR in record.places:
        run.now.update(ref, attached=site)


def _set_info(run: Interpreter, ref: Ref, key: str, value: object) -> None:
    record = run.record(ref)
    kept = tuple(pair for pair in record.info if pair[0] != key)
    run.now.update(ref, info=(*kept, (key, value)))


def promote(run: Interpreter, ref: Ref) -> None:
    """Something unknown has proved to be a module (it has ``parameters()``, it is trained …)."""
    record = run.record(ref)
    if record.kind == "opaque":
        places = record.places
        if record.get("constructed") and record.moved is None:
            places = frozenset({run.default_place})  # a class called without a device makes its weights on the CPU
        run.now.update(ref, kind="module", weights=True, places=places, info=(*record.info, ("opaque", True)))


def child(run: Interpreter, ref: Ref, name: str) -> Ref:
    """A part of an opaque module, made when it is first asked for; it lives where the whole lives."""
    record = run.record(ref)
    found = record.fields.get(name)
    if isinstance(found, Ref):
        return found
    part = run.new(
        Record(
            "module",
            f"{record.name}.{name}",
            places=record.places,
            weights=True,
            born=record.born,
            moved=record.moved,
            info=(("opaque", True), ("parent", ref), ("slot", name)),
        )
    )
    run.now.put(ref, name, part)
    return part


def call_leaf(run: Interpreter, ref: Ref, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """Call a module whose ``forward`` is not in the project."""
    record = run.record(ref)
    kind = behaviour(record.name)
    text = text_of(node.func)
    sides = [
        side
        for value, argument in zip(
            [*args, *keywords.values()], _argument_texts(node, len(args), keywords), strict=False
        )
        for side in tensors_in(run, value, argument)
    ]
    opaque = is_opaque(record)
    weighted = [weights_side(run, part, path) for path, part in parts(run, ref) if run.record(part).weights]
    if kind == "ctc":
        return _result(run, sides[:1], weighted, node, text)
    if kind == "recurrent":
        out = _result(run, sides, weighted, node, text)
        state = replace(out, loose=True) if isinstance(out, Tensor) else out
        return TupleValue((out, state))
    if kind == "attention":
        out = _result(run, sides, weighted, node, text)
        return TupleValue((out, out))
    if not sides and opaque:
        return UNKNOWN
    out = _result(run, sides, weighted, node, text, opaque, scalar=bool(record.get("mean")))
    return replace(out, loose=True) if opaque and isinstance(out, Tensor) else out


def _result(
    run: Interpreter,
    sides: list[Side],
    weighted: list[Side],
    node: ast.Call,
    text: str,
    opaque: bool = False,
    scalar: bool = False,
) -> Value:
    both = [*weighted, *sides]
    place, births = meet(run, node, text, both, opaque=opaque)
    grad = any(side.grad for side in both)
    return Tensor(place, births if not weighted else _kept(births), scalar=scalar, grad=grad, single=scalar)


def _kept(births: tuple[Birth, ...]) -> tuple[Birth, ...]:
    """Origins that a CPU result keeps: what went through weights is no longer an item of a batch."""
    return tuple(birth for birth in births if birth.kind not in ("batch", "load"))


def _argument_texts(node: ast.Call, positional: int, keywords: dict[str, Value]) -> list[str]:
    texts = [text_of(argument) for argument in node.args][:positional]
    texts += ["…"] * (positional - len(texts))
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords if keyword.arg}
    return texts + [named.get(name, name) for name in keywords]


def any_place(record: Record) -> Place:
    """The module's place, unknown where paths differ."""
    return next(iter(record.places)) if len(record.places) == 1 else ANYWHERE


def first_place(run: Interpreter, ref: Ref) -> Place:
    """Where a module's weights live: ``next(module.parameters()).device``."""
    found = {place for _, part in parts(run, ref) if run.record(part).weights for place in run.record(part).places}
    found |= {
        value.place
        for _, part in parts(run, ref)
        for value in run.record(part).fields.values()
        if isinstance(value, Tensor) and any(birth.kind == "parameter" for birth in value.births)
    }
    if not found:
        return any_place(run.record(ref))
    return next(iter(found)) if len(found) == 1 else ANYWHERE
