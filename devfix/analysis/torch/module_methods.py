"""Methods of modules: what moves them, what they hold, and what gives them more."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis import ineffective_moves, scenarios
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    Keywords,
    Parameters,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Value,
    Yields,
    union,
)
from devfix.analysis.stdlib import containers
from devfix.analysis.torch import batch_objects, checkpoints, modules
from devfix.analysis.transfer import external_calls
from devfix.analysis.transfer.device_arguments import MOVES, own_move, transfer_places, type_place
from devfix.models.frameworks import RUNS_A_MODEL
from devfix.models.index import behaviour

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Site
    from devfix.analysis.interpreter import Interpreter

__all__ = ["call_parallel", "module_method"]


def module_method(
    run: Interpreter, ref: Ref, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """``module.name(...)``."""
    record = run.record(ref)
    if name == "cuda":
        ineffective_moves.note_flag(run, args, node, module=True)
    if name == "to" or name in MOVES or name == "to_empty":
        places = [own_move(run, name, args, keywords)] if name in MOVES else transfer_places(run, args, keywords)
        known = [place for place in places if place is not None]
        for place in known:
            scenarios.placed(run, node, place)
            modules.move(run, ref, place, node)
        moved = run.record(ref).moved
        if known == [CPU] and moved is not None:
            run.facts.moves_to_cpu.append(moved)
        if len(known) > 1:
            for _, part in modules.parts(run, ref):
                run.now.update(part, places=frozenset(known))
        return ref
    if name == "type" and args:
        target = type_place(args[0])
        if target is not None:
            scenarios.placed(run, node, target)
            modules.move(run, ref, target, node)
        return ref
    if name == "requires_grad_":
        if args and args[0] == Const(False):
            for _, part in modules.parts(run, ref):
                info = run.record(part).info
                run.now.update(part, info=(*(pair for pair in info if pair[0] != "frozen"), ("frozen", True)))
        return ref
    if name in ("parameters", "named_parameters", "buffers", "named_buffers"):
        held = frozenset(part.id for _, part in modules.parts(run, ref))
        return Parameters(ref, named=name.startswith("named"), held=held)
    if name in ("children", "modules", "named_children", "named_modules"):
        listed = _listed_children(run, ref, name)
        if listed is not None:
            return listed
        inner = _submodules(run, ref, deep="modules" in name)
        return Yields(TupleValue((Text(), inner)) if name.startswith("named") else inner)
    if name == "apply" and args:
        run.call(args[0], [ref], {}, node)
        return ref
    if name == "load_state_dict":
        on_accelerator = any(ACCELERATOR in run.record(part).places for _, part in modules.parts(run, ref))
        for value in args:
            for tensor in checkpoints.loaded_in(run, value):
                external_calls.note_load_use(run, tensor, "module", node, on_accelerator)
        return UNKNOWN
    if name in ("register_buffer", "register_parameter") and args:
        value = args[1] if len(args) > 1 else keywords.get("tensor", UNKNOWN)
        site = run.site(node, remember=True)
        _register(run, ref, args[0], value, "buffer" if name == "register_buffer" else "parameter", site)
        return NONE
    if name in ("add_module", "register_module") and len(args) == 2:
        key = str(args[0].value) if isinstance(args[0], Const) else None
        modules.attach(run, ref, key, args[1], node, weak=key is None)
        return NONE
    if name in ("append", "extend", "insert") and args:
        return _grow(run, ref, name, args, node)
    if name == "forward":
        from devfix.analysis.transfer.calls import call_as_made

        return call_as_made(run, ref, args, keywords, node)
    if name == "__call__" or (name == "update" and behaviour(record.name) == "metric"):
        return run.call(ref, args, keywords, node)
    if name in RUNS_A_MODEL and modules.is_opaque(record):
        return modules.call_leaf(run, ref, args, keywords, node)
    if name in ("reset_classifier", "reset_head"):
        head = modules.make(run, f"{record.name}.{name}", node)
        modules.attach(run, ref, "head", head, node)
        return NONE
    if name == "get_submodule" and args and isinstance(args[0], Const):
        found: Value = ref
        for part_name in str(args[0].value).split("."):
            found = run.attribute(found, part_name, node)
        return found
    if name in ("keys", "values", "items", "pop", "update"):
        return containers.container_method(run, ref, name, args, keywords, node)
    if name == "state_dict":
        parameter = Tensor(modules.first_place(run, ref), (Birth("parameter", ref.id),))
        return run.new(Record("dict", rest=parameter))
    return ref if name not in ("get_classifier",) else modules.child(run, ref, "head")


def _listed_children(run: Interpreter, ref: Ref, name: str) -> Value | None:
    """``children()`` and ``named_children()`` one by one, where they are known and few."""
    record = run.record(ref)
    if "modules" in name or modules.is_opaque(record) or record.rest is not None:
        return None
    pairs = list(modules.children(run, record))
    if not 0 < len(pairs) <= 8:
        return None
    return TupleValue(
        tuple(TupleValue((Const(key), part)) if name.startswith("named") else part for key, part in pairs)
    )


def _submodules(run: Interpreter, ref: Ref, deep: bool) -> Value:
    found = [part for path, part in modules.parts(run, ref) if path and (deep or "." not in path)]
    if modules.is_opaque(run.record(ref)):
        found.append(modules.child(run, ref, "*children"))
    return union(found) if found else UNKNOWN


def _register(run: Interpreter, ref: Ref, key: Value, value: Value, kind: str, site: Site) -> None:
    if isinstance(key, Const) and isinstance(value, Tensor):
        modules.note_own(run, ref, value.place, site)
        place = run.default_place if value.place == CPU else value.place
        run.now.put(ref, str(key.value), Tensor(place, (Birth(kind, ref.id),)))
    elif isinstance(key, Const):
        run.now.put(ref, str(key.value), value)
    elif isinstance(value, Tensor):  # ``f"mask_{i}"``: one entry stands for all of computed names
        run.now.put(ref, modules.COMPUTED, Tensor(value.place, (Birth(kind, ref.id),)))
    if isinstance(key, Const) and kind == "buffer":
        record = run.record(ref)
        named = record.get("buffers", frozenset()) | {str(key.value)}
        run.now.update(ref, info=(*(pair for pair in record.info if pair[0] != "buffers"), ("buffers", named)))


def _grow(run: Interpreter, ref: Ref, name: str, args: list[Value], node: ast.Call) -> Value:
    added = args[-1]
    items = [added]
    if name == "extend":
        from devfix.analysis.transfer import iteration

        known = iteration.elements(run, added, node)
        items = known if known is not None else [iteration.element(run, added, node)]
    for item in items:
        record = run.record(ref)
        counted = run.loop_depth == 0 and record.rest is None
        modules.attach(run, ref, str(len(record.fields)) if counted else None, item, node, weak=not counted)
    return ref


def call_parallel(run: Interpreter, ref: Ref, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``DataParallel``, and ``DistributedDataParallel`` that is told its device, bring the inputs there themselves."""
    record = run.record(ref)
    inner, place = record.fields.get("module", UNKNOWN), record.get("brings-to", ACCELERATOR)
    if place is None:
        return run.call(inner, args, keywords, node)
    brought = {key: batch_objects.delivered(run, value, place) for key, value in keywords.items()}
    return run.call(inner, [batch_objects.delivered(run, value, place) for value in args], brought, node)
