"""Instances of project classes: construction, fields, and the value that ``with`` binds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.classes import (
    external_bases,
    find_member,
    framework_name,
    is_managed,
    is_module_class,
    mro,
)
from devfix.analysis.domain.objects import module_at, object_at
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    ClassValue,
    External,
    Function,
    IterableOf,
    Pointer,
    Unknown,
    Value,
)
from devfix.analysis.overlays import instance_kind
from devfix.analysis.overlays.framework import FrameworkInstance
from devfix.analysis.stdlib import contextlib_
from devfix.analysis.stdlib.containers import ListObject
from devfix.analysis.stdlib.instances import MAPPINGS
from devfix.analysis.torch import data, library_modules, optimizers
from devfix.analysis.torch.module_objects import ModuleObject
from devfix.analysis.transfer.attributes import attribute
from devfix.models.index import has_weights, lookup, root_of
from devfix.syntax.tree import implicit_call, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["enter_context", "instantiate", "instantiate_with_options", "new_instance"]


def instantiate(
    interp: Interpreter, cls: ClassValue, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Create an instance of a project class and call its constructor."""
    library_name = framework_name(cls)
    if library_name and lookup(library_name) is not None:
        return interp.call(External(library_name), args, keywords, node)
    names = external_bases(cls)
    if any(name.startswith("torch.optim.") and root_of(name) == "Optimizer" for name in names):
        base = next(name for name in names if name.startswith("torch.optim."))
        eager = _creates_state(base) or optimizers.copies_parameters(cls)
        return optimizers.build(interp, base, eager, args, keywords, node, cls)
    if args and any(name.startswith("enum.") for name in names):
        return args[0]  # the member with this value
    if not _TYPED_DICTS.isdisjoint(names):
        return interp.call(External("builtins.dict"), args, keywords, node)
    maker = find_member(interp, cls, "__new__")
    if isinstance(maker, Function):
        made = interp.call(maker, [cls, *args], keywords, node)
        if not isinstance(made, (Pointer, Unknown)) or _is_of_another(interp, made, cls):
            return made
    else:
        made = UNKNOWN
    instance = made if isinstance(made, Pointer) else new_instance(interp, cls, node)
    return _constructed(interp, instance, cls, args, keywords, node)


def _is_of_another(interp: Interpreter, made: Value, cls: ClassValue) -> bool:
    """Return whether ``__new__`` has returned an object of another class, whose constructor is not called."""
    return isinstance(made, Pointer) and interp.heap_object(made).cls is not cls


def _constructed(
    interp: Interpreter,
    pointer: Pointer,
    cls: ClassValue,
    args: list[Value],
    keywords: dict[str, Value],
    node: ast.Call,
) -> Pointer:
    """Call the constructor of a class for a new instance."""
    names = external_bases(cls)
    if module_at(interp, pointer) is None:
        optimizers.note_wrapper(interp, cls, [*args, *keywords.values()])
    if cls.dataclass or "typing.NamedTuple" in names:
        _fill_dataclass(interp, pointer, cls, args, keywords)
    constructor = find_member(interp, cls, "__init__")
    if isinstance(constructor, Function):
        interp.call(Bound(constructor, pointer), args, keywords, node)
    elif isinstance(interp.heap_object(pointer), ListObject) and args:
        known = interp.elements(args[0], node)
        fields = {str(index): item for index, item in enumerate(known)} if known is not None else {}
        rest = interp.element(args[0], node) if known is None else None
        interp.now.update(pointer, fields=fields, default_item=rest)
    elif any(name in MAPPINGS for name in names):
        items = interp.heap_object(args[0]).fields if args and isinstance(args[0], Pointer) else {}
        interp.now.update(pointer, fields={**items, **{key: value for key, value in keywords.items() if key != "**"}})
    elif module_at(interp, pointer) is not None and names and names[0] != "torch.nn.Module":
        library_modules.fill_module(interp, pointer, names[0], args, keywords, node)
    elif data.is_loader_class(cls):
        data.make_loader(interp, args, keywords, node, into=pointer)
    elif (instance := object_at(interp, pointer, FrameworkInstance)) is not None:
        instance.construct(interp, pointer, args, keywords, node)
    return pointer


_TYPED_DICTS = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def instantiate_with_options(interp: Interpreter, cls: ClassValue, options: dict[str, Value], node: ast.Call) -> Value:
    """Create an instance as ``from_pretrained`` and other constructors of libraries do: what they pass is in a file.

    Arguments of the constructor that are not among ``options`` and have no default are unknown.
    """
    constructor = find_member(interp, cls, "__init__")
    if not isinstance(constructor, Function):
        return instantiate(interp, cls, [], {}, node)
    spec = constructor.node.args
    parameters = [*spec.posonlyargs, *spec.args][1:]
    required = parameters[: len(parameters) - len(spec.defaults)]
    required += [each for each, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is None]
    given = {each.arg: options[each.arg] for each in (*parameters, *spec.kwonlyargs) if each.arg in options}
    missing: dict[str, Value] = {each.arg: Unknown(f"{cls.node.name}.{each.arg}") for each in required}
    before = interp.now.fork()
    try:
        return instantiate(interp, cls, [], {**missing, **given}, node)
    except Unreachable:
        interp.state = before
        return new_instance(interp, cls, node)


def new_instance(interp: Interpreter, cls: ClassValue, node: ast.Call) -> Pointer:
    """Create an instance of a project class without calling its constructor."""
    names = external_bases(cls)
    if is_module_class(interp, cls):
        opaque = any(
            name == "?" or not name.startswith(("torch.nn.Module", "builtins", "abc", "typing")) for name in names
        )
        leaf = [name for name in names if name.startswith("torch.nn.") and has_weights(name)]
        own_weights = opaque and (
            bool(leaf and leaf[0] not in ("torch.nn.Module", "torch.nn.modules.Module")) or not leaf
        )
        managed = any(is_managed(name) for name in names)
        return interp.new(
            ModuleObject(
                names[0] if names else "",
                cls,
                devices=frozenset({UNKNOWN_DEVICE if managed else interp.default_device}),
                weights=own_weights and "torch.nn.modules.Module" not in names,
                allocated_at=interp.point(node),
            )
        )
    if names and names[0] in _SEQUENCES:
        return interp.new(ListObject(cls.node.name, cls, allocated_at=interp.point(node)))
    return interp.new(instance_kind(names)(cls.node.name, cls, allocated_at=interp.point(node)))


_SEQUENCES = frozenset({"builtins.list", "builtins.tuple", "collections.UserList", "collections.deque"})


def _fill_dataclass(
    interp: Interpreter, pointer: Pointer, cls: ClassValue, args: list[Value], keywords: dict[str, Value]
) -> None:
    names: list[tuple[str, ast.AnnAssign, ClassValue]] = []
    for base in reversed(list(mro(cls))):
        if isinstance(base, ClassValue):
            names.extend(
                (stmt.target.id, stmt, base)
                for stmt in base.node.body
                if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name)
            )
    arguments = dict(zip([name for name, _, _ in names], args, strict=False)) | keywords
    for name, stmt, base in names:
        value = arguments.get(name)
        if value is None and "**" in keywords:
            value = Unknown(f"{cls.node.name}.{name}")
        if value is None:
            value = interp.now.lookup(base.scope, name) or UNKNOWN
            if isinstance(stmt.value, ast.Call) and text_of(stmt.value.func).split(".")[-1] in ("field", "Field"):
                value = _field_default(interp, stmt.value)
        interp.now.set_field(pointer, name, value)
    post = find_member(interp, cls, "__post_init__")
    if isinstance(post, Function):
        call = implicit_call(cls.node, "__post_init__")
        interp.call(Bound(post, pointer), [], {}, call)


def _field_default(interp: Interpreter, call: ast.Call) -> Value:
    for keyword in call.keywords:
        if keyword.arg == "default":
            return interp.evaluate(keyword.value)
        if keyword.arg in ("default_factory", "factory"):
            return interp.call(
                interp.evaluate(keyword.value), [], {}, ast.copy_location(ast.Call(keyword.value, [], []), call)
            )
    return UNKNOWN


def enter_context(interp: Interpreter, value: Value, node: ast.AST) -> Value:
    """Return the value that ``with value as x`` binds."""
    yielded = contextlib_.entered(interp, value)
    if yielded is not None:
        return yielded
    if isinstance(value, IterableOf):
        return value.element  # a generator under contextlib.contextmanager that yields on one of several paths
    if isinstance(value, Pointer) and interp.heap_object(value).cls is not None:
        enter = attribute(interp, value, "__enter__", node)
        if not isinstance(enter, Bound):
            enter = attribute(interp, value, "__aenter__", node)
        if isinstance(enter, Bound):
            return interp.call(enter, [], {}, implicit_call(node, "enter"))
    return value


def _creates_state(name: str) -> bool:
    """Return whether an optimizer creates its state in the constructor."""
    model = lookup(name)
    return model is not None and bool(model.option("eager", False))
