"""Optimizers: what they hold, and what happens to it between their construction and their first step."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    Bound,
    ClassValue,
    Const,
    Function,
    Keywords,
    Parameters,
    Place,
    Record,
    Ref,
    Tensor,
    TupleValue,
    Union,
    Value,
    Yields,
    options,
    union,
)
from devfix.analysis.observations import OptimizerHazard, Step

if TYPE_CHECKING:
    from devfix.analysis.domain.location import Site
    from devfix.analysis.interpreter import Interpreter

__all__ = [
    "add_group",
    "build",
    "copies_parameters",
    "held_modules",
    "load_state",
    "method",
    "note_attach",
    "note_move",
    "note_state_read",
    "note_state_written",
    "note_wrapper",
    "step",
]


def build(
    run: Interpreter,
    name: str,
    eager: bool,
    args: list[Value],
    keywords: dict[str, Value],
    node: ast.Call,
    own: ClassValue | None = None,
) -> Ref:
    """An optimizer over the modules whose parameters it is given; ``own`` is its class, where the project has it."""
    from devfix.analysis import ineffective_moves
    from devfix.analysis.torch import modules

    held: dict[int, None] = {}
    source = args[0] if args else keywords.get("params")
    if source is not None:
        ineffective_moves.note_leaf_use(run, source, "optimizer", node)
    roots = held_modules(run, source)
    for root in roots:
        taken = root.held or frozenset(part.id for _, part in modules.parts(run, root.ref))
        held.update(dict.fromkeys(sorted(taken)))
    on_cpu = frozenset(key for key in held if run.now.at(key).places == frozenset({CPU}))
    flags = [flag for flag in ("fused", "capturable") if _may_be_true(keywords.get(flag))]
    stateless = name.endswith("SGD") and not _may_be_true(keywords.get("momentum"))
    info: tuple[tuple[str, Any], ...] = (
        ("held", frozenset(held)),
        ("roots", tuple(root.ref.id for root in roots)),
        ("cpu", on_cpu),
        ("eager", eager),
        ("flags", tuple(flags)),
        ("stateless", stateless),
        ("filtered", frozenset()),
        ("own", own),
    )
    ref = run.new(Record("optimizer", name, born=run.site(node, remember=True), info=info))
    if own is not None:
        _construct(run, own, ref, args, keywords, node)
    return ref


def _may_be_true(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Const) and not value.value)


def held_modules(run: Interpreter, value: Value | None, depth: int = 0) -> list[Parameters]:
    """The modules whose parameters a value holds."""
    if value is None or depth > 5:
        return []
    match value:
        case Parameters():
            return [value]
        case Tensor(births=births):
            return [Parameters(Ref(birth.key)) for birth in births if birth.kind == "parameter" and birth.key]
        case TupleValue(items) | Union(items):
            return [root for item in items for root in held_modules(run, item, depth + 1)]
        case Yields(element):
            return held_modules(run, element, depth + 1)
        case Ref() if run.record(value).kind in ("list", "dict", "set"):
            record = run.record(value)
            inside = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
            return [root for item in inside for root in held_modules(run, item, depth + 1)]
    return []


def add_group(run: Interpreter, ref: Ref, value: Value) -> None:
    """``optimizer.add_param_group``: what is added is held from now on."""
    from devfix.analysis.torch import modules

    record = run.record(ref)
    added = {part.id for root in held_modules(run, value) for _, part in modules.parts(run, root.ref)}
    _update(run, ref, held=record.get("held", frozenset()) | added)


def _update(run: Interpreter, ref: Ref, **changes: object) -> None:
    record = run.record(ref)
    info = dict(record.info) | changes
    run.now.update(ref, info=tuple(info.items()))


def _optimizers(run: Interpreter) -> list[tuple[Ref, Record]]:
    return [(Ref(key), record) for key, record in run.now.records() if record.kind == "optimizer"]


def note_move(run: Interpreter, moved: list[Ref], place: Place, site: Site) -> None:
    """Parameters that some optimizer was built with on the CPU go to the accelerator now."""
    if place != ACCELERATOR:
        return
    ids = {part.id for part in moved if run.record(part).places == frozenset({CPU})}
    for ref, record in _optimizers(run):
        if record.get("cpu", frozenset()) & ids and record.get("late") is None:
            _update(run, ref, late=site)


def note_attach(run: Interpreter, parent: Ref, part: Ref, old: Value | None, site: Site) -> None:
    """A part of a module that some optimizer holds is replaced or added now."""
    from devfix.analysis.torch import modules

    new = {inner.id for _, inner in modules.parts(run, part) if run.record(inner).weights}
    if not new:
        return
    replaced = {
        inner.id
        for option in (options(old) if old is not None else ())
        if isinstance(option, Ref) and run.record(option).kind == "module"
        for _, inner in modules.parts(run, option)
    }
    above = {parent.id}
    owner = run.record(parent).get("parent")
    while isinstance(owner, Ref) and owner.id not in above:
        above.add(owner.id)
        owner = run.record(owner).get("parent")
    for ref, record in _optimizers(run):
        held = record.get("held", frozenset())
        if (above | replaced) & held and not new & held:
            missing = record.get("missing", frozenset()) | {(parent.id, key) for key in new}
            _update(run, ref, missing=missing, replaced=site)


def load_state(run: Interpreter, ref: Ref, node: ast.AST) -> None:
    """``optimizer.load_state_dict``: state goes to where the parameters are at this moment."""
    record = run.record(ref)
    if record.get("late") is None and not record.get("stateless"):
        _update(run, ref, loaded=run.site(node, remember=True))


def note_state_read(run: Interpreter, ref: Ref) -> None:
    """``for state in optimizer.state.values():`` with moves in it, after the parameters': the program moves the state.

    https://github.com/pytorch/pytorch/issues/2830
    """
    stmt = run.frame.stmt if run.frame is not None else None
    if isinstance(stmt, ast.For) and run.record(ref).get("late") is not None and any(map(_moves, ast.walk(stmt))):
        _update(run, ref, settled=True)


def _moves(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda")


def note_state_written(run: Interpreter, target: ast.Subscript, value: Value) -> None:
    """``optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p)``: state by hand, where the parameters are now."""
    node: ast.expr = target
    while isinstance(node, ast.Subscript):
        node = node.value
    if not (isinstance(node, ast.Attribute) and node.attr == "state" and isinstance(value, Tensor | Ref)):
        return
    if isinstance(value, Tensor) and value.place == ACCELERATOR:
        return
    for option in options(run.evaluate(node.value)):
        if isinstance(option, Ref) and run.record(option).kind == "optimizer":
            load_state(run, option, target)


def step(run: Interpreter, ref: Ref, node: ast.AST) -> None:
    """``optimizer.step()``: whatever went wrong before shows now."""
    record = run.record(ref)
    if not run.latent and all(known.site.node is not node for known in run.facts.steps):
        run.facts.steps.append(Step(run.site(node, remember=True), record.get("roots", ())))
    if isinstance(node, ast.Call) and record.get("own") is not None:
        _own_step(run, record, node)
    late, loaded, replaced = record.get("late"), record.get("loaded"), record.get("replaced")
    site = run.site(node)
    kinds: list[tuple[str, Site]] = []
    if late is not None and not record.get("settled"):
        if record.get("eager"):
            kinds.append(("eager-state", late))
        elif loaded is not None:
            kinds.append(("state-loaded", late))
        elif record.get("flags"):
            kinds.append(("fused", late))
        else:
            kinds.append(("harmless", late))
    if replaced is not None and _still_missing(run, record):
        kinds.append(("replaced", replaced))
    for kind, cause in kinds:
        assert record.born is not None
        run.facts.hazards.append(OptimizerHazard(kind, record.name, record.born, cause, site, loaded))


def _own_object(run: Interpreter, cls: ClassValue, roots: tuple[int, ...]) -> Ref:
    """The project's optimizer as an object with groups of parameters, and no state yet."""
    parameters = union(Parameters(Ref(root)) for root in roots)  # wherever they are when the list is read
    group = run.new(Record("dict", fields={"params": parameters}, rest=UNKNOWN))
    state = run.new(Record("dict", rest=run.new(Record("dict"))))
    fields: dict[str, Value] = {"param_groups": run.new(Record("list", rest=group)), "state": state}
    return run.new(Record("instance", cls.node.name, cls, fields=fields))


def _construct(
    run: Interpreter, cls: ClassValue, ref: Ref, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Run the project's own constructor; where it copies parameters that are on the CPU yet, the order is the cause."""
    from devfix.analysis.domain.classes import member

    record = run.record(ref)
    roots, constructor = record.get("roots", ()), member(run, cls, "__init__")
    if not roots or (record.get("cpu") and record.get("eager")) or not isinstance(constructor, Function):
        return
    made = _own_object(run, cls, roots)
    run.call(Bound(constructor, made), args, keywords, node)
    _update(run, ref, made=made)


def _own_step(run: Interpreter, record: Record, node: ast.Call) -> None:
    """The project's own ``step``, with the state that it makes itself."""
    from devfix.analysis.domain.classes import member

    cls, roots = record.get("own"), record.get("roots", ())
    body = member(run, cls, "step")
    if isinstance(body, Function) and roots:
        run.call(Bound(body, record.get("made") or _own_object(run, cls, roots)), [], {}, node)


def _still_missing(run: Interpreter, record: Record) -> bool:
    """Whether new parts are in use, trainable, and in no optimizer."""
    from devfix.analysis.torch import modules

    held = {key for _, other in _optimizers(run) for key in other.get("held", frozenset())}
    for parent, key in record.get("missing", frozenset()):
        reachable = {part.id for _, part in modules.parts(run, Ref(parent))}
        if key in reachable and key not in held and not run.now.at(key).get("frozen", False):
            return True
    return False


def method(run: Interpreter, ref: Ref, name: str, args: list[Value], node: ast.Call) -> Value | None:
    """A method of an optimizer; ``None`` where it has no effect that matters."""
    if name == "step":
        step(run, ref, node)
    elif name == "load_state_dict":
        load_state(run, ref, node)
    elif name == "add_param_group" and args:
        add_group(run, ref, args[0])
    return None


def copies_parameters(cls: ClassValue) -> bool:
    """Whether a project class makes state from parameters in its constructor (slow weights, sums, shadows)."""
    for stmt in cls.node.body:
        if isinstance(stmt, ast.FunctionDef) and stmt.name == "__init__":
            calls = [node for node in ast.walk(stmt) if isinstance(node, ast.Call)]
            return any(isinstance(call.func, ast.Attribute) and call.func.attr in _COPIES for call in calls)
    return False


_COPIES = ("clone", "zeros_like", "ones_like", "full_like", "empty_like", "deepcopy")


def note_wrapper(run: Interpreter, cls: ClassValue, args: list[Value]) -> None:
    """A project object is built around an optimizer; it may copy the parameters at once, as Lookahead does."""
    for value in args:
        for option in options(value):
            if isinstance(option, Ref) and run.record(option).kind == "optimizer" and copies_parameters(cls):
                _update(run, option, eager=True)
