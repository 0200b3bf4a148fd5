"""Optimizers: their parameters, and moves and replacements of these between construction and first step."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.joins import EITHER, LATEST, UNION, equal_or
from devfix.analysis.domain.objects import Container, HeapObject, Module, module_at, object_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    UNKNOWN,
    Bound,
    ClassValue,
    Const,
    Device,
    Function,
    IterableOf,
    Keywords,
    Parameters,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import OptimizerHazard, Step
from devfix.analysis.observations.execution import OptimizerBuilt
from devfix.analysis.stdlib.containers import DictObject, ListObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.torch import checkpoints, module_tree
from devfix.analysis.torch.releases import leaves_step_behind
from devfix.analysis.torch.schedulers import SchedulerObject
from devfix.syntax.tree import walk

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "OptimizerObject",
    "add_group",
    "at",
    "build",
    "copies_parameters",
    "hazard_of_move",
    "load_state",
    "modules_of",
    "note_attach",
    "note_move",
    "note_state_written",
    "note_wrapper",
    "step",
]


@dataclass(frozen=True)
class OptimizerObject(HeapObject):
    """An optimizer.

    Attributes:
        module_ids: the modules whose parameters it has.
        roots: the modules whose ``parameters()`` it got.
        on_cpu: those of ``module_ids`` that were on the CPU when it was built.
        eager: whether it creates state in the constructor.
        needs_accelerator: whether it is ``fused`` or ``capturable``.
        stateless: whether it has no state.
        own: its class, if that is in the project.
        instance: an instance of ``own``.
        moved_late: the move of parameters after it was built.
        loaded: the latest load of its state.
        mapped: the ``torch.load`` that mapped the state to the CPU, if it is ``fused`` or ``capturable``.
        settled: whether the program moves the state itself.
        missing: submodules that it lacks, each with the module that they were assigned to.
        replaced: the latest such assignment.

    """

    module_ids: frozenset[int] = field(default=frozenset(), metadata=UNION)
    roots: tuple[int, ...] = field(default=(), metadata=equal_or(()))
    on_cpu: frozenset[int] = field(default=frozenset(), metadata=UNION)
    eager: bool = field(default=False, metadata=EITHER)
    needs_accelerator: bool = field(default=False, metadata=EITHER)
    stateless: bool = field(default=False, metadata=EITHER)
    own: ClassValue | None = field(default=None, metadata=equal_or(None))
    instance: Pointer | None = field(default=None, metadata=equal_or(None))
    moved_late: ProgramPoint | None = field(default=None, metadata=LATEST)
    loaded: ProgramPoint | None = field(default=None, metadata=LATEST)
    mapped: ProgramPoint | None = field(default=None, metadata=LATEST)
    settled: bool = field(default=False, metadata=EITHER)
    missing: frozenset[tuple[int, int]] = field(default=frozenset(), metadata=UNION)
    replaced: ProgramPoint | None = field(default=None, metadata=LATEST)

    def attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return an attribute, and note that the program reads the state."""
        if name == "state":
            self._note_state_read(interp, pointer)
        return super().attribute(interp, pointer, name, node)

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return groups and state as unknown, and anything else as a method."""
        if name in ("param_groups", "state", "optimizer"):
            return UNKNOWN
        return super().other_attribute(interp, pointer, name, node)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: a step, a load of state, another group."""
        modules = [interp.now.at(key) for key in self.module_ids if interp.now.has(key)]
        on_accelerator = any(ACCELERATOR in module.devices for module in modules)
        for value in args:
            for tensor in checkpoints.loaded_tensors(interp, value):
                checkpoints.note_use(interp, tensor, "optimizer", node, on_accelerator)
        if name == "step":
            if args:
                interp.call(args[0], [], {}, node)  # a closure that computes the loss
            step(interp, pointer, node)
        elif name == "load_state_dict":
            load_state(interp, pointer, node)
            self._note_mapped_state(interp, pointer, args)
        elif name == "add_param_group" and args:
            add_group(interp, pointer, args[0])
        return UNKNOWN

    def _note_mapped_state(self, interp: Interpreter, pointer: Pointer, args: list[Value]) -> None:
        """Record where the state that a fused optimizer gets was mapped to the CPU."""
        modules = [interp.now.at(key) for key in self.module_ids if interp.now.has(key)]
        if not self.needs_accelerator or any(module.devices == {CPU} for module in modules):
            return
        for value in args:
            for tensor in checkpoints.loaded_tensors(interp, value):
                if tensor.device == CPU:
                    interp.now.update(pointer, mapped=checkpoints.loaded_at(interp, tensor), settled=False)

    def _note_state_read(self, interp: Interpreter, pointer: Pointer) -> None:
        """Record that the program moves the state itself: ``for state in optimizer.state.values()`` with moves.

        https://github.com/pytorch/pytorch/issues/2830
        """
        stmt = interp.activation.stmt if interp.activation is not None else None
        is_open = self.moved_late is not None or self.mapped is not None
        if isinstance(stmt, ast.For) and is_open and any(map(_is_move, ast.walk(stmt))):
            interp.now.update(pointer, settled=True)


def _is_move(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda")


def at(interp: Interpreter, pointer: Pointer) -> OptimizerObject:
    """Return the optimizer at a pointer."""
    obj = interp.heap_object(pointer)
    assert isinstance(obj, OptimizerObject)
    return obj


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
    on_cpu = frozenset(key for key in module_ids if _has_weights_on_cpu(interp.now.at(key)))
    obj = OptimizerObject(
        name,
        allocated_at=interp.point(node, with_state=True),
        module_ids=frozenset(module_ids),
        roots=tuple(root.module.id for root in roots),
        on_cpu=on_cpu,
        eager=eager,
        needs_accelerator=any(_may_be_true(keywords.get(flag)) for flag in ("fused", "capturable")),
        stateless=name.endswith("SGD") and not _may_be_true(keywords.get("momentum")),
        own=own,
    )
    pointer = interp.new(obj)
    interp.base.optimizers.append(pointer.id)
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
        case Pointer():
            container = object_at(interp, value, Container)
            inside = container.contents if container is not None else []
            return [root for item in inside for root in modules_of(interp, item, depth + 1)]
    return []


def add_group(interp: Interpreter, pointer: Pointer, value: Value) -> None:
    """``optimizer.add_param_group``: add the modules of the group."""
    added = {
        part.id for root in modules_of(interp, value) for _, part in module_tree.named_modules(interp, root.module)
    }
    interp.now.update(pointer, module_ids=at(interp, pointer).module_ids | added)


def _optimizers(interp: Interpreter) -> list[tuple[Pointer, OptimizerObject]]:
    """Return the optimizers that the current path has made."""
    found = ((key, interp.now.at(key)) for key in interp.base.optimizers)
    return [(Pointer(key), obj) for key, obj in found if isinstance(obj, OptimizerObject)]


def _has_weights_on_cpu(obj: HeapObject) -> bool:
    """Return whether an object has weights of its own, on the CPU; what it holds may be elsewhere."""
    is_empty = isinstance(obj, Module) and not obj.weights and not obj.is_opaque
    return obj.devices == frozenset({CPU}) and not is_empty


def note_move(interp: Interpreter, moved: list[Pointer], device: Device, point: ProgramPoint) -> None:
    """Record a move to the accelerator for each optimizer that got the moved parameters on the CPU."""
    if device != ACCELERATOR:
        return
    ids = {part.id for part in moved if _has_weights_on_cpu(interp.heap_object(part))}
    for pointer, obj in _optimizers(interp):
        if obj.on_cpu & ids and obj.moved_late is None:
            interp.now.update(pointer, moved_late=point)


def note_attach(interp: Interpreter, parent: Pointer, part: Pointer, old: Value | None, point: ProgramPoint) -> None:
    """Record that a submodule is replaced or added, for each optimizer over the parent."""
    parts = [(inner, module) for _, inner, module in module_tree.weighted_modules(interp, part)]
    parts = [(inner, module) for inner, module in parts if not (module_tree.is_loss(module) or module.frozen)]
    new = {inner.id for inner, module in parts if inner == part or module.name}  # of other values, nothing is known
    replaced = {option.id for option in alternatives(old) if isinstance(option, Pointer)} if old is not None else set()
    nameless = not interp.heap_object(part).name
    was_unknown = old is not None and any(isinstance(option, Unknown) for option in alternatives(old))
    is_guess = nameless and (was_unknown or not _is_any_module(interp, replaced))
    if not new or part.id in replaced or is_guess:
        return  # the same one was moved, or a value of which nothing else is known
    above = _owners(interp, parent)
    lenders = {key: _lenders(interp, key) for key in new if not _has_unknown_weights(interp, key)}
    for pointer, obj in _optimizers(interp):
        if (above | replaced) & obj.module_ids and not _holds(interp, obj.module_ids, new, part.id):
            missing = obj.missing | {(parent.id, key) for key, known in lenders.items() if not known & obj.module_ids}
            if missing != obj.missing and _may_step(interp, pointer):
                interp.now.update(pointer, missing=missing, replaced=point)


def _may_step(interp: Interpreter, optimizer: Pointer) -> bool:
    """Return whether an optimizer can be reached: another one may have taken its name, and a scheduler steps none."""
    schedulers = {key for key, obj in interp.now.heap_objects() if isinstance(obj, SchedulerObject)}
    return bool(interp.now.reachable({optimizer.id}, schedulers))


def _holds(interp: Interpreter, held: frozenset[int], new: set[int], wrapper: int) -> bool:
    """Return whether one of the modules in a new submodule is held already, or part of a module that is.

    The parts of a module of unknown class appear when they are used: ``model.head = nn.DataParallel(model.head)``.
    """
    seen, pending = {wrapper}, [*new]
    while pending:
        key = pending.pop()
        if key in held:
            return True
        if key not in seen:
            seen.add(key)
            module = module_at(interp, Pointer(key))
            pending.extend(parent.id for parent in (module.parents if module is not None else ()))
    return False


def _lenders(interp: Interpreter, key: int) -> set[int]:
    """Return the modules that share weights with a library layer: ``new.weight = old.weight``."""
    weight = interp.heap_object(Pointer(key)).fields.get("weight")
    origins = weight.origins if isinstance(weight, Tensor) else ()
    return {origin.site_id for origin in origins if origin.kind == "parameter"} - {0, key}


def _has_unknown_weights(interp: Interpreter, key: int) -> bool:
    """Return whether a layer got weights of which nothing is known: they may be those of any other layer."""
    weight = interp.heap_object(Pointer(key)).fields.get("weight")
    return weight is not None and any(not isinstance(option, Tensor) for option in alternatives(weight))


def _is_any_module(interp: Interpreter, keys: Iterable[int]) -> bool:
    return any(isinstance(interp.heap_object(Pointer(key)), Module) for key in keys)


def _owners(interp: Interpreter, module: Pointer) -> set[int]:
    """Return a module and the modules above it."""
    found, pending = set[int](), [module]
    while pending:
        owner = pending.pop()
        if owner.id not in found:
            found.add(owner.id)
            obj = module_at(interp, owner)
            pending.extend(obj.parents if obj is not None else ())
    return found


def load_state(interp: Interpreter, pointer: Pointer, node: ast.AST) -> None:
    """``optimizer.load_state_dict``: record that the state is now on the current device of the parameters."""
    obj = at(interp, pointer)
    if obj.moved_late is None and not obj.stateless:
        interp.now.update(pointer, loaded=interp.point(node, with_state=True))


def note_state_written(interp: Interpreter, target: ast.Subscript, value: Value) -> None:
    """Record state that the program writes: ``optimizer.state[p]["momentum_buffer"] = torch.zeros_like(p)``.

    In a loop, ``for state in optimizer.state.values()``, it is ``state["momentum_buffer"]``.
    """
    node: ast.expr = target
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        node = _looped_state(interp, target, node.id) or node
    if not (isinstance(node, ast.Attribute) and node.attr == "state"):
        return
    is_new = isinstance(value, Tensor | Pointer) and not (isinstance(value, Tensor) and value.device == ACCELERATOR)
    for option in alternatives(interp.evaluate(node.value)):
        optimizer = object_at(interp, option, OptimizerObject)
        if optimizer is not None and isinstance(option, Pointer):
            is_moved = optimizer.loaded is not None and not (isinstance(value, Tensor) and value.device != ACCELERATOR)
            if optimizer.mapped is not None or is_moved:
                interp.now.update(option, settled=True)
            elif is_new:
                load_state(interp, option, target)


def _looped_state(interp: Interpreter, target: ast.Subscript, name: str) -> ast.expr | None:
    """Return ``optimizer.state`` of the loop around a statement whose variable has this name."""
    assert interp.activation is not None
    for outer in interp.activation.module.tree.ancestors(target):
        match outer:
            case ast.For(iter=ast.Call(func=ast.Attribute(value=ast.Attribute(attr="state") as state)), target=bound):
                if any(isinstance(each, ast.Name) and each.id == name for each in walk(bound)):
                    return state
    return None


def step(interp: Interpreter, pointer: Pointer, node: ast.AST) -> None:
    """``optimizer.step()``: record the step, and the hazards that take effect in it."""
    obj = at(interp, pointer)
    if not interp.latent and all(known.point.node is not node for known in interp.observations.steps):
        interp.observations.steps.append(Step(interp.point(node, with_state=True), obj.roots))
    if isinstance(node, ast.Call) and obj.own is not None:
        _own_step(interp, obj, obj.own, node)
    point = interp.point(node)
    kinds: list[tuple[str, ProgramPoint]] = []
    if obj.moved_late is not None and not obj.settled:
        kinds.append((hazard_of_move(obj), obj.moved_late))
    if obj.mapped is not None and not obj.settled and leaves_step_behind(interp.program):
        kinds.append(("mapped", obj.mapped))
    if obj.replaced is not None and _still_missing(interp, obj):
        kinds.append(("replaced", obj.replaced))
    for kind, cause in kinds:
        assert obj.allocated_at is not None
        latent = kind == "mapped" and interp.latent
        interp.observations.hazards.append(
            OptimizerHazard(kind, obj.name, obj.allocated_at, cause, point, obj.loaded, latent)
        )


def hazard_of_move(obj: OptimizerObject) -> str:
    """Return what a move of the parameters after the constructor does to an optimizer.

    Of two paths that were joined, one may have the move and the other the load, which then followed it.
    """
    if obj.eager:
        return "eager-state"
    if obj.loaded is not None and obj.moved_late is not None and obj.loaded.time < obj.moved_late.time:
        return "state-loaded"
    return "fused" if obj.needs_accelerator else "harmless"


def _new_instance(interp: Interpreter, cls: ClassValue, roots: tuple[int, ...]) -> Pointer:
    """Create an instance of the project's optimizer class with parameter groups and empty state."""
    parameters = join(Parameters(Pointer(root)) for root in roots)  # on their device at the time of the read
    group = interp.new(DictObject(fields={"params": parameters}, default_item=UNKNOWN))
    state = interp.new(DictObject(default_item=interp.new(DictObject())))
    fields: dict[str, Value] = {"param_groups": interp.new(ListObject(default_item=group)), "state": state}
    return interp.new(InstanceObject(cls.node.name, cls, fields=fields))


def _construct(
    interp: Interpreter, cls: ClassValue, pointer: Pointer, args: list[Value], keywords: Keywords, node: ast.Call
) -> None:
    """Run the project's constructor, unless the order of construction and move is the cause of its copies."""
    obj, constructor = at(interp, pointer), find_member(interp, cls, "__init__")
    if not obj.roots or (obj.on_cpu and obj.eager) or not isinstance(constructor, Function):
        return
    instance = _new_instance(interp, cls, obj.roots)
    interp.call(Bound(constructor, instance), args, keywords, node)
    interp.now.update(pointer, instance=instance)


def _own_step(interp: Interpreter, obj: OptimizerObject, cls: ClassValue, node: ast.Call) -> None:
    """Run the project's ``step``, with the state that it creates."""
    body = find_member(interp, cls, "step")
    if isinstance(body, Function) and obj.roots:
        interp.call(Bound(body, obj.instance or _new_instance(interp, cls, obj.roots)), [], {}, node)


def _still_missing(interp: Interpreter, obj: OptimizerObject) -> bool:
    """Return whether replaced submodules are in use, trainable, and in no optimizer."""
    module_ids = {key for _, other in _optimizers(interp) for key in other.module_ids}
    for parent, key in obj.missing:
        reachable = {part.id for _, part in module_tree.named_modules(interp, Pointer(parent))}
        module = module_at(interp, Pointer(key))
        if key in reachable and key not in module_ids and module is not None and not module.frozen:
            return True
    return False


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
            if object_at(interp, option, OptimizerObject) is not None and copies_parameters(cls):
                assert isinstance(option, Pointer)
                interp.now.update(option, eager=True)
