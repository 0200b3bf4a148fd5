"""Instances for any caller: built, put in evaluation mode, and moved to the accelerator."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from devfix.analysis.callers.assumed_arguments import assume
from devfix.analysis.callers.placed_attributes import forget_placed
from devfix.analysis.domain.classes import find_member, is_module_class
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    ACCELERATOR,
    NONE,
    UNKNOWN_DEVICE,
    Bound,
    ClassValue,
    Const,
    DeviceValue,
    Function,
    Pointer,
    Value,
    alternatives,
    join,
)
from devfix.analysis.interpreter import OutOfBudget
from devfix.analysis.torch import module_tree, modules
from devfix.analysis.transfer import instantiation
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.interpreter import AbstractInterpreter

__all__ = ["evaluate", "new_instance", "place"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef


def new_instance(interp: AbstractInterpreter, cls: ClassValue, steps: int) -> Pointer | None:
    """Return a new instance; with unknown attributes if its constructor cannot be followed.

    ``steps`` is the budget of what follows then.
    """
    before = interp.now.fork()
    node = ast.copy_location(ast.Call(ast.Name(cls.node.name, ast.Load()), [], []), cls.node)
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


def evaluate(interp: AbstractInterpreter, instance: Pointer) -> None:
    """Put modules in evaluation mode, as callers do before a move, if their classes do more in ``train``."""
    for _, part in list(module_tree.named_modules(interp, instance)):
        cls = interp.heap_object(part).cls
        mode = find_member(interp, cls, "train") if cls is not None else None
        if cls is None or not isinstance(mode, Function):
            continue
        before = interp.now.fork()
        node = ast.copy_location(ast.Call(ast.Name("train", ast.Load()), [], []), cls.node)
        with suppress(Unreachable):
            interp.call(Bound(mode, part), [Const(False)], {}, node)
        if interp.state is None:
            interp.state = before


def place(interp: AbstractInterpreter, cls: ClassValue, instance: Pointer, builders: Collection[ast.AST]) -> None:
    """Move an instance to the accelerator, with its own ``to`` if it has one.

    ``builders`` are the functions that have built it.
    """
    node = ast.copy_location(ast.Call(ast.Name(cls.node.name, ast.Load()), [], []), cls.node)
    mover = find_member(interp, cls, "to")
    if isinstance(mover, Function):
        interp.call(Bound(mover, instance), [DeviceValue(ACCELERATOR)], {}, node)
    elif module_at(interp, instance) is not None:
        stays = _sends_own_tensors(cls.node, interp.heap_object(instance).fields)
        modules.move(interp, instance, UNKNOWN_DEVICE if stays else ACCELERATOR, node)
        for _, part in list(module_tree.named_modules(interp, instance)):
            _settle_weights(interp, part)
    else:
        forget_placed(interp, cls, instance, builders)


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
