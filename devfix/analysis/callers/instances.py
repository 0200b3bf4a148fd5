"""Instances for any caller: built, put in evaluation mode, and moved to the accelerator.

Objects that are no modules have no ``to``; a method that is told the device, or that moves a part, takes its part:
``scheduler.set_timesteps(50, device=device)``, ``self.model.to(self.device)``.  Callers call it before they use what it
places, so the device of these attributes is not known here.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.assumed_arguments import assume
from devfix.analysis.callers.file_names import names_of
from devfix.analysis.callers.kinds import argument_kinds
from devfix.analysis.domain.classes import find_member, is_module_class
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    ACCELERATOR,
    NONE,
    UNKNOWN_DEVICE,
    UNNAMED,
    Bound,
    ClassValue,
    Const,
    DeviceValue,
    Function,
    Pointer,
    Unknown,
    Value,
    alternatives,
    anywhere,
    join,
)
from devfix.analysis.interpreter import OutOfBudget
from devfix.analysis.torch import module_methods, module_moves, module_tree, modules
from devfix.analysis.transfer import instantiation
from devfix.syntax.tree import SourceTree, implicit_call, text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.interpreter import AbstractInterpreter

__all__ = ["evaluate", "forget_flags", "new_instance", "place", "placed_attributes"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef


def new_instance(interp: AbstractInterpreter, cls: ClassValue, steps: int) -> Pointer | None:
    """Return a new instance; with unknown attributes if its constructor cannot be followed.

    ``steps`` is the budget of what follows then.
    """
    before = interp.now.fork()
    node = implicit_call(cls.node, cls.node.name)
    try:
        instance = _built(interp, cls, node)
    except (Unreachable, OutOfBudget):
        interp.state, interp.step_budget = before, interp.steps + steps
        instance = instantiation.new_instance(interp, cls, node)
    return instance if isinstance(instance, Pointer) else None


def _built(interp: AbstractInterpreter, cls: ClassValue, node: ast.Call) -> Value:
    """Call a class as any caller would: what is no module is told its device here, a module is moved later."""
    constructor = find_member(interp, cls, "__init__")
    if not isinstance(constructor, Function) or not isinstance(constructor.node, _Method):
        return interp.call(cls, [], {}, node)
    owner = constructor.owner.node if constructor.owner is not None else cls.node
    chosen = UNKNOWN_DEVICE if is_module_class(interp, cls) else ACCELERATOR
    assumed = assume(interp, constructor, owner, constructor.module.tree, 1, device=UNKNOWN_DEVICE, chosen=chosen)
    return interp.call(cls, assumed.positional, assumed.keywords, node)


def evaluate(interp: AbstractInterpreter, cls: ClassValue, instance: Pointer) -> None:
    """Put a module in evaluation mode, as callers do before they move it; what ``train`` computes stays where it is."""
    before = interp.now.fork()
    node = implicit_call(cls.node, "eval")
    with suppress(Unreachable):
        module_methods.set_mode(interp, instance, Const(False), node)
    if interp.state is None:
        interp.state = before
    module_moves.forget_mode(interp, instance)  # callers train it, too


def place(interp: AbstractInterpreter, cls: ClassValue, instance: Pointer, builders: Collection[ast.AST]) -> None:
    """Move an instance to the accelerator, with its own ``to`` if it has one.

    ``builders`` are the functions that have built it.
    """
    node = implicit_call(cls.node, cls.node.name)
    mover = find_member(interp, cls, "to")
    if isinstance(mover, Function):
        interp.call(Bound(mover, instance), [DeviceValue(ACCELERATOR)], {}, node)
    elif module_at(interp, instance) is not None:
        stays = _sends_own_tensors(cls.node, interp.heap_object(instance).fields)
        module_moves.move(interp, instance, UNKNOWN_DEVICE if stays else ACCELERATOR, node)
        for _, part in list(module_tree.named_modules(interp, instance)):
            _settle_weights(interp, part)
    else:
        _forget_placed(interp, cls, instance, builders)


def _settle_weights(interp: AbstractInterpreter, module: Pointer) -> None:
    """Make an attribute that may be a parameter or a buffer one: what else it may be is a guess about options."""
    fields = interp.heap_object(module).fields
    for name, value in fields.items():
        registered = [option for option in alternatives(value) if modules.is_registered(option)]
        if registered and len(registered) < len(alternatives(value)):
            others = [option for option in alternatives(value) if option == NONE]
            interp.now.set_field(module, name, join([*registered, *others]))


def _sends_own_tensors(cls: ast.ClassDef, fields: Mapping[str, Value]) -> bool:
    """Return whether a module sends its own buffers or parameters to the accelerator: ``self.basis.cuda()``.

    Its author keeps it on the CPU, so its callers need not move it.
    """
    own = {name for name, value in fields.items() if modules.is_registered(value)}
    return any(
        isinstance(part, ast.Attribute) and part.attr in own and text_of(part) == f"self.{part.attr}"
        for node in walk(cls)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"
        for part in walk(node.func.value)
    )


def _forget_placed(
    interp: AbstractInterpreter, cls: ClassValue, instance: Pointer, builders: Collection[ast.AST]
) -> None:
    """Make the device of attributes unknown that a method with a device argument places, and of modules it moves.

    ``builders`` are the functions that the constructor has called: what these place is known.
    """
    fields = interp.heap_object(instance).fields
    for name in placed_attributes(cls.node, cls.module.tree, builders) & fields.keys():
        interp.now.set_field(instance, name, anywhere(fields[name]))
    for name in _moved_attributes(cls.node, cls.module.tree, builders) & fields.keys():
        for value in alternatives(fields[name]):
            if isinstance(value, Pointer) and module_at(interp, value) is not None:
                module_moves.forget_device(interp, value)


def forget_flags(
    interp: AbstractInterpreter, cls: ClassValue, instance: Pointer, builders: Collection[ast.AST]
) -> None:
    """Make the flags unknown that methods set, those that build the instance aside: a caller has called some of them.

    ``self._is_fitted = True`` in ``fit()``.
    """
    stored = {
        node.attr
        for _, method in _methods(cls.node, cls.module.tree, builders)
        for node in walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and text_of(node.value) == "self"
    }
    for name, value in interp.heap_object(instance).fields.items():
        if name in stored and isinstance(value, Const) and isinstance(value.value, bool):
            interp.now.set_field(instance, name, Unknown(f"{UNNAMED}#{instance.id}.{name}"))


def placed_attributes(owner: ast.ClassDef, tree: SourceTree, builders: Collection[ast.AST] = ()) -> frozenset[str]:
    """Return the attributes that methods with a device argument set, constructors and what they call aside."""
    found: set[str] = set()
    for cls, method in _methods(owner, tree, builders):
        kinds = argument_kinds(method, cls, tree).values()
        if any(argument.kind is Kind.DEVICE for argument in kinds):
            stored = (node for node in walk(method) if isinstance(node, ast.Attribute))
            found |= {node.attr for node in stored if isinstance(node.ctx, ast.Store)}
    return frozenset(found)


def _moved_attributes(owner: ast.ClassDef, tree: SourceTree, builders: Collection[ast.AST]) -> frozenset[str]:
    """Return the attributes that methods move, those that build it aside: ``self.model.to(self.device)``."""
    found: set[str] = set()
    for _, method in _methods(owner, tree, builders):
        for node in walk(method):
            match node:
                case ast.Call(func=ast.Attribute(attr="to" | "cuda", value=ast.Attribute(attr=name, value=owner_name))):
                    if isinstance(owner_name, ast.Name) and owner_name.id == "self":
                        found.add(name)
    return frozenset(found)


def _methods(
    owner: ast.ClassDef, tree: SourceTree, builders: Collection[ast.AST]
) -> Iterator[tuple[ast.ClassDef, _Method]]:
    """Yield the methods of a class and its bases in the file, each with its class; those that build it aside."""
    for cls in names_of(tree).lineage(owner):
        for method in cls.body:
            if isinstance(method, _Method) and method.name != "__init__" and method not in builders:
                yield cls, method
