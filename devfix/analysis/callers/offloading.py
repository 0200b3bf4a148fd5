"""Objects that offload their modules: their methods are called with everything on the accelerator, and called again.

Every module of such an object is on the accelerator before the first call.  A method that leaves one on the CPU and
needs it there no longer fails in its next call, and so does a method that runs one step which leaves a module on the
CPU, and then another one which uses it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from devfix.analysis.callers.any_caller import STEPS_PER_FUNCTION
from devfix.analysis.callers.assumed_arguments import assume
from devfix.analysis.callers.in_place_moves import in_place_moves, names_cpu, offloading_methods
from devfix.analysis.callers.restored_stages import unrestored_stages
from devfix.analysis.callers.roles import Role, role
from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.location import Activation
from devfix.analysis.domain.objects import Opaque, module_at
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    Bound,
    ClassValue,
    DeviceValue,
    Function,
    Pointer,
    Text,
    Unknown,
    Value,
)
from devfix.analysis.interpreter import OutOfBudget
from devfix.analysis.torch import module_moves, module_objects, module_tree
from devfix.analysis.transfer import instantiation
from devfix.syntax.tree import SourceTree, implicit_call, walk

if TYPE_CHECKING:
    from devfix.analysis.interpreter import AbstractInterpreter
    from devfix.analysis.program import PythonModule

__all__ = ["call_offloading_methods", "offloads_modules"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef

# Methods that a caller calls for each request or batch.  Others (`train`, `load`, `cache_latents`) may run only once.
_PER_REQUEST = re.compile(
    r"__call__|forward|((.*_)?(generate|sample|predict|infer|inference|encode|decode|validate|evaluate|step|edit|"
    r"transcribe|translate|synthesi[sz]e|segment|detect|upscale|restore|render)(_.*|s)?)"
)


def offloads_modules(tree: SourceTree) -> bool:
    """Return whether a file has a class whose methods move its modules to the CPU in place."""
    if ".cpu()" not in tree.text and ".to(" not in tree.text:
        return False
    return any(isinstance(stmt, ast.ClassDef) and offloading_methods(stmt) for stmt in tree.tree.body)


def call_offloading_methods(
    interp: AbstractInterpreter, module: PythonModule, reached: Collection[tuple[str, int]] = ()
) -> None:
    """Call the methods of a file that move modules to the CPU, and those that call them.

    Args:
        interp: the interpreter, after the body of the file.
        module: the file.
        reached: path and line of functions that programs call: what they do is known, so they are called once.

    """
    if interp.state is None:
        return
    names = interp.now.names(module.env)
    for stmt in module.tree.tree.body:
        for stage in unrestored_stages(module.tree, stmt) if isinstance(stmt, ast.ClassDef) else ():
            interp.observations.record(stage, key=stage.stage)
        value = names.get(stmt.name) if isinstance(stmt, ast.ClassDef) else None
        if isinstance(value, ClassValue) and value.node is stmt:
            _Offloading(interp, module, value, frozenset(reached)).run()


class _Offloading:
    """The calls of one class's methods."""

    def __init__(
        self,
        interp: AbstractInterpreter,
        module: PythonModule,
        cls: ClassValue,
        reached: frozenset[tuple[str, int]],
    ) -> None:
        self._interp = interp
        self._module = module
        self._cls = cls
        self._reached = reached
        self._node = implicit_call(cls.node, cls.node.name)

    def run(self) -> None:
        interp, cls = self._interp, self._cls
        methods = [method for method in offloading_methods(cls.node).values() if self._is_called_by_others(method)]
        if not methods:
            return
        start = interp.now
        interp.latent = True
        with interp.within(Activation(self._module.env, self._module, stmt=cls.node)):
            interp.state = start.fork()
            instance = self._instance()
            built = interp.now
            for method in methods:
                found = built.lookup(cls.scope, method.name)
                if isinstance(found, Function) and found.node is method:
                    interp.state = built.fork()
                    self._call(Bound(found, instance), found)
        interp.state, interp.latent = start, False

    def _is_called_by_others(self, method: _Method) -> bool:
        is_private = method.name.startswith("_") and not method.name.startswith("__")
        is_setup = method.name == "__init__" or role(method, self._cls.node, self._module.tree) is Role.TEST
        return not (is_private or is_setup or _is_accessor(method))

    def _call(self, bound: Bound, function: Function) -> None:
        """Call a method, and again if callers call it more than once."""
        interp, node = self._interp, function.node
        assert isinstance(node, _Method)
        call = implicit_call(node, node.name)
        known = (os.path.abspath(self._module.path), node.lineno) in self._reached
        times = 2 if _PER_REQUEST.fullmatch(node.name) and not known else 1
        for _ in range(times):
            with self._budget(), suppress(Unreachable, OutOfBudget):
                assumed = assume(interp, function, self._cls.node, self._module.tree, 1)
                interp.call(bound, assumed.positional, assumed.keywords, call)
            if interp.state is None:
                return

    def _budget(self) -> _Budget:
        return _Budget(self._interp)

    # --- the object -------------------------------------------------------------------------------------------
    def _instance(self) -> Pointer:
        """Return an instance with all modules on the accelerator."""
        interp, cls = self._interp, self._cls
        before = interp.now.fork()
        instance: Value = Unknown()
        with self._budget(), suppress(Unreachable, OutOfBudget):
            instance = self._built()
        if not isinstance(instance, Pointer) or interp.state is None:
            interp.state = before
            instance = instantiation.new_instance(interp, cls, self._node)
        mover = find_member(interp, cls, "to")
        if isinstance(mover, Function):  # it may keep the device, too
            before = interp.now.fork()
            with self._budget(), suppress(Unreachable, OutOfBudget):
                interp.call(Bound(mover, instance), [DeviceValue(ACCELERATOR)], {}, self._node)
            interp.state = interp.now if interp.alive else before
        if module_at(interp, instance) is not None:
            module_moves.place(interp, instance, ACCELERATOR, self._node)
        self._place_attributes(instance)
        return instance

    def _built(self) -> Value:
        interp, cls = self._interp, self._cls
        constructor = find_member(interp, cls, "__init__")
        if not isinstance(constructor, Function) or not isinstance(constructor.node, _Method):
            return interp.call(cls, [], {}, self._node)
        owner = constructor.owner.node if constructor.owner is not None else cls.node
        assumed = assume(interp, constructor, owner, constructor.module.tree, 1)
        parameters = constructor.node.args
        names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)][1:]
        positional = [_named_device(*pair) for pair in zip(names, assumed.positional, strict=False)]
        keywords = {name: _named_device(name, value) for name, value in assumed.keywords.items()}
        return interp.call(cls, positional, keywords, self._node)

    def _place_attributes(self, instance: Pointer) -> None:
        """Put the modules that the methods move on the accelerator, and give devices with unknown values one."""
        interp = self._interp
        fields = interp.heap_object(instance).fields
        for name in _moved_attributes(self._cls.node):
            value = fields.get(name, Unknown())
            if isinstance(value, Pointer) and isinstance(interp.heap_object(value), Opaque):
                module_tree.assume_module(interp, value)
            if isinstance(value, Pointer) and module_at(interp, value) is not None:
                module_moves.place(interp, value, ACCELERATOR, self._node)
            elif isinstance(value, Unknown) and find_member(interp, self._cls, name) is None:
                made = module_objects.make(interp, "", self._node, ACCELERATOR, opaque=True)
                interp.now.set_field(instance, name, made)
        for name in _device_attributes(self._cls.node):
            value = fields.get(name, Unknown())
            is_open = isinstance(value, (Unknown, Text)) or (isinstance(value, DeviceValue) and not value.device.known)
            if is_open and find_member(interp, self._cls, name) is None:
                interp.now.set_field(instance, name, _named_device(name, DeviceValue(ACCELERATOR)))


class _Budget:
    """A context in which the interpreter has the steps of one function; what it leaves open is no fault."""

    def __init__(self, interp: AbstractInterpreter) -> None:
        self._interp = interp

    def __enter__(self) -> None:
        self._before = self._interp.step_budget, self._interp.observations.is_complete
        self._interp.step_budget = self._interp.steps + STEPS_PER_FUNCTION

    def __exit__(self, *error: object) -> None:
        self._interp.step_budget, self._interp.observations.is_complete = self._before


def _named_device(name: str, value: Value) -> Value:
    """Return a device; one whose name says that modules wait on it is the CPU."""
    if not isinstance(value, (DeviceValue, Text)) or "device" not in name.lower().split("_"):
        return value
    return DeviceValue(CPU if names_cpu(name) else ACCELERATOR, isinstance(value, Text), value.symbol)


def _is_accessor(method: _Method) -> bool:
    """Return whether a method is no plain method of an instance."""
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in method.decorator_list}
    return not names.isdisjoint({"property", "cached_property", "setter", "staticmethod", "classmethod"})


def _moved_attributes(cls: ast.ClassDef) -> list[str]:
    """Return the attributes whose modules methods of a class move in place."""
    methods = (stmt for stmt in cls.body if isinstance(stmt, _Method))
    return list(dict.fromkeys(move.attribute for method in methods for move in in_place_moves(method)))


def _device_attributes(cls: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes of an object that are named like a device."""
    names = {
        node.attr
        for node in walk(cls)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    yield from sorted(name for name in names if "device" in name.lower().split("_"))
