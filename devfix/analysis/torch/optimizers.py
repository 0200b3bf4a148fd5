"""Optimizers: their parameters, and moves and replacements of these between construction and first step."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    Bound,
    ClassValue,
    Const,
    Device,
    Function,
    HeapObject,
    IterableOf,
    Keywords,
    Parameters,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import OptimizerHazard, Step
from devfix.analysis.observations.execution import OptimizerBuilt
from devfix.analysis.torch import module_tree

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "add_group",
    "build",
    "copies_parameters",
    "load_state",
    "method",
    "modules_of",
    "note_attach",
    "note_move",
    "note_state_read",
    "note_state_written",
    "note_wrapper",
    "step",
]


def build(
    interp: Interpreter,
    name: str,
    eager: bool,
    args: list[Value],
    keywords: dict[str, Value],
    node: ast.Call,
    own: ClassValue | None = None,
) -> Pointer:
    """Create an optimizer over the modules whose parameters it gets.

    ``eager`` optimizers create state in the constructor; ``own`` is the class if it is in the project.
    """
    module_ids: dict[int, None] = {}
    source = args[0] if args else keywords.get("params")
    if source is not None:
        interp.observe(OptimizerBuilt(source, node))
    roots = modules_of(interp, source)
    for root in roots:
        ids = root.module_ids or frozenset(part.id for _, part in module_tree.named_modules(interp, root.module))
        module_ids.update(dict.fromkeys(sorted(ids)))
    on_cpu = frozenset(key for key in module_ids if interp.now.at(key).devices == frozenset({CPU}))
    flags = [flag for flag in ("fused", "capturable") if _may_be_true(keywords.get(flag))]
    stateless = name.endswith("SGD") and not _may_be_true(keywords.get("momentum"))
    info: tuple[tuple[str, Any], ...] = (
        ("module_ids", frozenset(module_ids)),
        ("roots", tuple(root.module.id for root in roots)),
        ("cpu", on_cpu),
        ("eager", eager),
        ("flags", tuple(flags)),
        ("stateless", stateless),
        ("own", own),
    )
    pointer = interp.new(HeapObject("optimizer", name, allocated_at=interp.point(node, with_state=True), info=info))
    if own is not None:
        _construct(interp, own, pointer, args, keywords, node)
    return pointer


def _may_be_true(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Const) and not value.value)


def modules_of(interp: Interpreter, value: Value | None, depth: int = 0) -> list[Parameters]:
    """Return the modules whose parameters a value contains."""
    if value is None or depth > 5:
        return []
    match value:
        case Parameters():
            return [value]
        case Tensor(origins=origins):
            return [
                Parameters(Pointer(origin.site_id))
                for origin in origins
                if origin.kind == "parameter" and origin.site_id
            ]
        case TupleValue(items) | Union(items):
            return [root for item in items for root in modules_of(interp, item, depth + 1)]
        case IterableOf(element):
            return modules_of(interp, element, depth + 1)
        case Pointer() if interp.heap_object(value).kind in ("list", "dict", "set"):
            obj = interp.heap_object(value)
            inside = obj.contents
            return [root for item in inside for root in modules_of(interp, item, depth + 1)]
    return []


def add_group(interp: Interpreter, pointer: Pointer, value: Value) -> None:
    """``optimizer.add_param_group``: add the modules of the group."""
    obj = interp.heap_object(pointer)
    added = {
        part.id for root in modules_of(interp, value) for _, part in module_tree.named_modules(interp, root.module)
    }
    _update(interp, pointer, module_ids=obj.get("module_ids", frozenset()) | added)


def _update(interp: Interpreter, pointer: Pointer, **changes: object) -> None:
    obj = interp.heap_object(pointer)
    info = dict(obj.info) | changes
    interp.now.update(pointer, info=tuple(info.items()))


def _optimizers(interp: Interpreter) -> list[tuple[Pointer, HeapObject]]:
    return [(Pointer(key), obj) for key, obj in interp.now.heap_objects() if obj.kind == "optimizer"]


def note_move(interp: Interpreter, moved: list[Pointer], device: Device, point: ProgramPoint) -> None:
    """Record a move to the accelerator for each optimizer that got the moved parameters on the CPU."""
    if device != ACCELERATOR:
        return
    ids = {part.id for part in moved if interp.heap_object(part).devices == frozenset({CPU})}
    for pointer, obj in _optimizers(interp):
        if obj.get("cpu", frozenset()) & ids and obj.get("late") is None:
            _update(interp, pointer, late=point)


def note_attach(interp: Interpreter, parent: Pointer, part: Pointer, old: Value | None, point: ProgramPoint) -> None:
    """Record that a submodule is replaced or added, for each optimizer over the parent."""
    new = {inner.id for _, inner in module_tree.named_modules(interp, part) if interp.heap_object(inner).weights}
    if not new:
        return
    replaced = {
        inner.id
        for option in (alternatives(old) if old is not None else ())
        if isinstance(option, Pointer) and interp.heap_object(option).kind == "module"
        for _, inner in module_tree.named_modules(interp, option)
    }
    above = {parent.id}
    owner = interp.heap_object(parent).get("parent")
    while isinstance(owner, Pointer) and owner.id not in above:
        above.add(owner.id)
        owner = interp.heap_object(owner).get("parent")
    for pointer, obj in _optimizers(interp):
        module_ids = obj.get("module_ids", frozenset())
        if (above | replaced) & module_ids and not new & module_ids:
            missing = obj.get("missing", frozenset()) | {(parent.id, key) for key in new}
            _update(interp, pointer, missing=missing, replaced=point)


def load_state(interp: Interpreter, pointer: Pointer, node: ast.AST) -> None:
    """``optimizer.load_state_dict``: record that the state is now on the current device of the parameters."""
    obj = interp.heap_object(pointer)
    if obj.get("late") is None and not obj.get("stateless"):
        _update(interp, pointer, loaded=interp.point(node, with_state=True))


def note_state_read(interp: Interpreter, pointer: Pointer) -> None:
    """Record that the program moves the state itself: ``for state in optimizer.state.values()`` with moves.

    https://github.com/pytorch/pytorch/issues/2830
    """
    stmt = interp.activation.stmt if interp.activation is not None else None
    if (
        isinstance(stmt, ast.For)
        and interp.heap_object(pointer).get("late") is not None
        and any(map(_is_move, ast.walk(stmt)))
    ):
        _update(interp, pointer, settled=True)


def _is_move(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda")


def note_state_written(interp: Interpreter, target: ast.Subscript, value: Value) -> None:
    """Record state that the program creates: ``optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p)``."""
    node: ast.expr = target
    while isinstance(node, ast.Subscript):
        node = node.value
    if not (isinstance(node, ast.Attribute) and node.attr == "state" and isinstance(value, Tensor | Pointer)):
        return
    if isinstance(value, Tensor) and value.device == ACCELERATOR:
        return
    for option in alternatives(interp.evaluate(node.value)):
        if isinstance(option, Pointer) and interp.heap_object(option).kind == "optimizer":
            load_state(interp, option, target)


def step(interp: Interpreter, pointer: Pointer, node: ast.AST) -> None:
    """``optimizer.step()``: record the step, and the hazards that take effect in it."""
    obj = interp.heap_object(pointer)
    if not interp.latent and all(known.point.node is not node for known in interp.observations.steps):
        interp.observations.steps.append(Step(interp.point(node, with_state=True), obj.get("roots", ())))
    if isinstance(node, ast.Call) and obj.get("own") is not None:
        _own_step(interp, obj, node)
    late, loaded, replaced = obj.get("late"), obj.get("loaded"), obj.get("replaced")
    point = interp.point(node)
    kinds: list[tuple[str, ProgramPoint]] = []
    if late is not None and not obj.get("settled"):
        if obj.get("eager"):
            kinds.append(("eager-state", late))
        elif loaded is not None:
            kinds.append(("state-loaded", late))
        elif obj.get("flags"):
            kinds.append(("fused", late))
        else:
            kinds.append(("harmless", late))
    if replaced is not None and _still_missing(interp, obj):
        kinds.append(("replaced", replaced))
    for kind, cause in kinds:
        assert obj.allocated_at is not None
        interp.observations.hazards.append(OptimizerHazard(kind, obj.name, obj.allocated_at, cause, point, loaded))


def _new_instance(interp: Interpreter, cls: ClassValue, roots: tuple[int, ...]) -> Pointer:
    """Create an instance of the project's optimizer class with parameter groups and empty state."""
    parameters = join(Parameters(Pointer(root)) for root in roots)  # on their device at the time of the read
    group = interp.new(HeapObject("dict", fields={"params": parameters}, default_item=UNKNOWN))
    state = interp.new(HeapObject("dict", default_item=interp.new(HeapObject("dict"))))
    fields: dict[str, Value] = {"param_groups": interp.new(HeapObject("list", default_item=group)), "state": state}
    return interp.new(HeapObject("instance", cls.node.name, cls, fields=fields))


def _construct(
    interp: Interpreter, cls: ClassValue, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Run the project's constructor, unless the order of construction and move is the cause of its copies."""
    obj = interp.heap_object(pointer)
    roots, constructor = obj.get("roots", ()), find_member(interp, cls, "__init__")
    if not roots or (obj.get("cpu") and obj.get("eager")) or not isinstance(constructor, Function):
        return
    instance = _new_instance(interp, cls, roots)
    interp.call(Bound(constructor, instance), args, keywords, node)
    _update(interp, pointer, instance=instance)


def _own_step(interp: Interpreter, obj: HeapObject, node: ast.Call) -> None:
    """Run the project's ``step``, with the state that it creates."""
    cls, roots = obj.get("own"), obj.get("roots", ())
    body = find_member(interp, cls, "step")
    if isinstance(body, Function) and roots:
        interp.call(Bound(body, obj.get("instance") or _new_instance(interp, cls, roots)), [], {}, node)


def _still_missing(interp: Interpreter, obj: HeapObject) -> bool:
    """Return whether replaced submodules are in use, trainable, and in no optimizer."""
    module_ids = {key for _, other in _optimizers(interp) for key in other.get("module_ids", frozenset())}
    for parent, key in obj.get("missing", frozenset()):
        reachable = {part.id for _, part in module_tree.named_modules(interp, Pointer(parent))}
        if key in reachable and key not in module_ids and not interp.now.at(key).get("frozen", False):
            return True
    return False


def method(interp: Interpreter, pointer: Pointer, name: str, args: list[Value], node: ast.Call) -> Value | None:
    """Execute a method of an optimizer."""
    if name == "step":
        step(interp, pointer, node)
    elif name == "load_state_dict":
        load_state(interp, pointer, node)
    elif name == "add_param_group" and args:
        add_group(interp, pointer, args[0])
    return None


def copies_parameters(cls: ClassValue) -> bool:
    """Return whether a project class copies parameters in its constructor (slow weights, averages)."""
    for stmt in cls.node.body:
        if isinstance(stmt, ast.FunctionDef) and stmt.name == "__init__":
            calls = [node for node in ast.walk(stmt) if isinstance(node, ast.Call)]
            return any(isinstance(call.func, ast.Attribute) and call.func.attr in _COPY_FUNCTIONS for call in calls)
    return False


_COPY_FUNCTIONS = ("clone", "zeros_like", "ones_like", "full_like", "empty_like", "deepcopy")


def note_wrapper(interp: Interpreter, cls: ClassValue, args: list[Value]) -> None:
    """Record that a project object wraps an optimizer and copies its parameters, as Lookahead does."""
    for value in args:
        for option in alternatives(value):
            if (
                isinstance(option, Pointer)
                and interp.heap_object(option).kind == "optimizer"
                and copies_parameters(cls)
            ):
                _update(interp, option, eager=True)
