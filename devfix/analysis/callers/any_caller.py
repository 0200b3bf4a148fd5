"""Any caller: functions that no program calls are called as a user of an accelerator would call them.

The tensors of the arguments are on the accelerator, and so are the weights of modules: an instance is built, moved
there, and each of its methods is called.  What an argument is comes from :mod:`devfix.analysis.callers.kinds`; what
nothing is known of stays unknown.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from devfix.analysis.callers import instances
from devfix.analysis.callers.arguments import Evidence, Kind
from devfix.analysis.callers.assumed_arguments import assume, has_options
from devfix.analysis.callers.coverage import coverage_of_library
from devfix.analysis.callers.facts.device_facts import DeviceFacts
from devfix.analysis.callers.file_names import FileNames, names_of
from devfix.analysis.callers.kinds import argument_kinds
from devfix.analysis.callers.roles import Role, role
from devfix.analysis.domain.classes import find_member
from devfix.analysis.domain.location import Activation
from devfix.analysis.domain.objects import module_at, object_at
from devfix.analysis.domain.state import State, Unreachable
from devfix.analysis.domain.values import (
    Bound,
    ClassValue,
    Function,
    Pointer,
    Value,
)
from devfix.analysis.interpreter import OutOfBudget
from devfix.analysis.overlays.framework import FrameworkInstance
from devfix.analysis.transfer.definitions import make_function
from devfix.analysis.transfer.statements import MAX_PATH_SPLITS
from devfix.model import Coverage
from devfix.syntax.tree import implicit_call, text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.interpreter import AbstractInterpreter
    from devfix.analysis.program import PythonModule
    from devfix.syntax.tree import SourceTree

__all__ = ["call_definitions"]

STEPS_PER_FUNCTION = 12_000
SPLITS_PER_FUNCTION = 10  # conditions whose outcomes are followed on separate paths

_Method = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def call_definitions(
    interp: AbstractInterpreter,
    module: PythonModule,
    reached: Collection[tuple[str, int]] = (),
    whole: bool = False,
    facts: DeviceFacts | None = None,
) -> dict[int, Coverage]:
    """Call the functions and methods of a file that nothing has called yet; return what became of each, by line.

    Args:
        interp: the interpreter, after the body of the file.
        module: the file.
        reached: path and line of functions that programs call.
        whole: also call functions that cannot make a difference between devices.
        facts: the functions that can; found if they are not given.

    """
    caller = _AnyCaller(interp, module, frozenset(reached), whole, facts or DeviceFacts(interp.program))
    caller.run()
    return caller.coverage()


class _AnyCaller:
    def __init__(
        self,
        interp: AbstractInterpreter,
        module: PythonModule,
        reached: frozenset[tuple[str, int]],
        whole: bool,
        facts: DeviceFacts,
    ) -> None:
        self._interp = interp
        self._module = module
        self._reached = reached
        self._whole = whole
        self._start = interp.state or State(interp.base)
        self._facts = facts
        self._callers: set[ast.AST] | None = None
        self._read = _read_names(module.tree)
        self._given_up: set[ast.AST] = set()

    def run(self) -> None:
        """Call what the file defines: what uses a function first, because it may say what the function gets."""
        names = self._start.names(self._module.env)
        for definition in _users_first(list(_definitions(self._module.tree.tree.body))):
            value = names.get(definition.name)
            if isinstance(value, Function) and value.node is definition:
                self._guarded(self._start, definition, self._call_function, value)
            elif isinstance(value, ClassValue) and value.node is definition:
                self._guarded(self._start, definition, self._call_class, value)
            elif isinstance(value, Function) and _is_decorated(definition):
                self._guarded(self._start, definition, partial(self._call_decorated, definition), value)

    def coverage(self) -> dict[int, Coverage]:
        """Return by line what became of each function."""
        here = os.path.abspath(self._module.path)
        known = {line for path, line in self._reached if path == here}
        covered = coverage_of_library(self._module, self._facts, self._interp.visited, self._given_up)
        return {line: Coverage.ANALYSED if line in known else found for line, found in covered.items()}

    def _guarded(self, start: State, node: ast.stmt, action: Callable[[Any], None], value: Value) -> None:
        """Run an action on a copy of a state, within the budget of one function."""
        interp = self._interp
        interp.state = start.fork()
        complete, budget = interp.observations.is_complete, interp.step_budget
        interp.step_budget = interp.steps + STEPS_PER_FUNCTION
        interp.path_splits = MAX_PATH_SPLITS - SPLITS_PER_FUNCTION
        activation = Activation(self._module.env, self._module, stmt=node)
        try:
            with interp.within(activation), suppress(Unreachable):
                action(value)
        except OutOfBudget:
            self._given_up.add(node)
        finally:
            interp.step_budget, interp.latent = budget, False
            interp.observations.is_complete = complete

    def _is_called(self, node: ast.AST) -> bool:
        return node in self._interp.called or self._is_reached(node)

    def _is_reached(self, node: ast.AST) -> bool:
        return (os.path.abspath(self._module.path), getattr(node, "lineno", 0)) in self._reached

    def _is_left_out(self, function: _Method, owner: ast.ClassDef | None) -> bool:
        """Return whether a function makes no difference between devices, or gets what is on the CPU."""
        if self._whole:
            return False
        is_entry = owner is None and _is_entry(function) and not self._is_factory(function)
        if not (is_entry or self._facts.may_matter(self._module, function) or function in self._callers_of_unknown()):
            return True
        return role(function, owner, self._module.tree) in (Role.HOST, Role.TEST)

    def _is_factory(self, function: _Method) -> bool:
        """Return whether all that a function does is to build a module: its class is called anyway."""
        return self._facts.builds_module(self._module, function) and not _places_values(function)

    def _callers_of_unknown(self) -> set[ast.AST]:
        """Return the functions that call those which matter, and whose arguments only their callers know."""
        if self._callers is None:
            definitions = list(_definitions(self._module.tree.tree.body))
            classes = [each for each in definitions if isinstance(each, ast.ClassDef)]
            owners: dict[_Method, ast.ClassDef | None] = {
                each: None for each in definitions if isinstance(each, _Method)
            }
            owners.update({stmt: cls for cls in classes for stmt in cls.body if isinstance(stmt, _Method)})
            called = {each: _called_names(each) for each in owners}
            used = set[str]().union(*called.values())
            known = {each for each in owners if not _is_private(each.name) or {each.name, f"self.{each.name}"} & used}
            told = {each for each, owner in owners.items() if self._is_open(each, owner)}
            self._callers = set()
            while told:
                names = {(owners[each], each.name if owners[each] is None else f"self.{each.name}") for each in told}
                callers = {
                    each
                    for each in known  # of a private function that the file does not use, other files tell what it gets
                    if any((None, name) in names or (owners[each], name) in names for name in called[each])
                }
                told = {each for each in callers - self._callers if _is_private(each.name)}
                self._callers |= callers
        return self._callers

    def _is_open(self, function: _Method, owner: ast.ClassDef | None) -> bool:
        """Return whether a function may make a difference, and only its callers know where one of its arguments is.

        Of a private one, these are the functions of the file; of another one, any that passes what nothing describes.
        The steps of an object that is no module are called as a guess.
        """
        if not self._facts.may_matter(self._module, function):
            return False
        arguments = argument_kinds(function, owner, self._module.tree).values()
        kinds = {each.kind for argument in arguments for each in (argument, *argument.parts)}
        is_told = _is_private(function.name) and not self._is_step(function.name, owner)
        return Kind.UNKNOWN in kinds or (Kind.TENSOR in kinds and is_told)

    def _call_function(self, function: Function) -> None:
        node = function.node
        if not isinstance(node, _Method) or self._is_left_out(node, None):
            return
        if not self._is_called(node) or self._is_offered(node):
            self._call(function, function, None)

    def _call_decorated(self, node: _Method, wrapper: Function) -> None:
        """Call what a decorator of the project returns, with the arguments for the function that it decorates."""
        if not self._is_left_out(node, None) and not self._is_called(node):
            self._call(wrapper, make_function(self._interp, node), None)

    def _is_offered(self, function: _Method) -> bool:
        """Return whether a function is made for other files, too: public, with tensors and a device of its own.

        The functions of its file know its device; another caller may leave it out.
        """
        if _is_private(function.name):
            return False
        arguments = argument_kinds(function, None, self._module.tree).values()
        return self._has_device(function, None) and any(
            each.kind is Kind.TENSOR and each.evidence is Evidence.ANNOTATION for each in arguments
        )

    def _has_device(self, function: _Method, owner: ast.ClassDef | None) -> bool:
        """Return whether callers may tell a function its device, and need not."""
        arguments = argument_kinds(function, owner, self._module.tree).values()
        return any(each.kind is Kind.DEVICE and each.optional for each in arguments)

    def _call(self, callee: Value, function: Function, owner: ast.ClassDef | None, skip: int = 0) -> None:
        """Call a function with all arguments, then with those only that it needs; ``skip`` are bound already."""
        tree = self._module.tree
        assert isinstance(function.node, _Method)
        node = implicit_call(function.node, function.node.name)
        before = self._interp.now
        # without options first: of a place, the first mismatch is kept, and that of defaults happens to more callers
        for only_required in (True, False) if has_options(function, owner, tree) else (False,):
            self._interp.state = before.fork()
            assumed = assume(self._interp, function, owner, tree, skip, only_required)
            is_asked = self._whole or skip or _is_entry(function.node) or function.node in self._callers_of_unknown()
            if not (is_asked or assumed.places or _places_values(function.node)):
                continue  # nothing is on the accelerator
            self._interp.latent = not assumed.is_certain or (skip > 0 and self._is_step(function.node.name, owner))
            with suppress(Unreachable):
                self._interp.call(callee, assumed.positional, assumed.keywords, node)

    def _is_step(self, name: str, owner: ast.ClassDef | None) -> bool:
        """Return whether other methods, which may place parts of an object that is no module, call a private one."""
        is_module = owner is None or names_of(self._module.tree).is_module(owner)
        return not is_module and _is_private(name) and name in self._read

    # --- classes ----------------------------------------------------------------------------------------------
    def _call_class(self, cls: ClassValue) -> None:
        methods = [method for method in _methods(cls.node) if not self._is_left_out(method, cls.node)]
        if not methods and not self._builds_with_functions(cls.node):
            return
        before = set(self._interp.visited)
        instance = instances.new_instance(self._interp, cls, STEPS_PER_FUNCTION)
        if instance is None or not self._interp.alive:
            return
        builders = self._interp.visited - before
        if module_at(self._interp, instance) is not None:
            instances.evaluate(self._interp, cls, instance)
        instances.place(self._interp, cls, instance, builders)
        instances.forget_flags(self._interp, cls, instance, builders)
        built = self._interp.state
        if built is None:
            return
        if object_at(self._interp, instance, FrameworkInstance) is not None:
            self._guarded(built, cls.node, self._run_as_framework, instance)
        for base, hooked in _callers_of_hooks(cls.node, names_of(self._module.tree)):
            found = find_member(self._interp, cls, hooked.name)
            if isinstance(found, Function) and found.node is hooked and not self._is_left_out(hooked, base):
                self._guarded(built, hooked, partial(self._call_method, cls, instance, hooked), found)
        for method in methods:
            found = built.lookup(cls.scope, method.name)
            if not isinstance(found, Function) or (found.node is not method and not _is_decorated(method)):
                continue  # replaced
            if method in builders:  # the constructor tries it, too, or leaves out the device
                is_open = not self._is_reached(method) and (
                    method.name == "forward" or self._has_device(method, cls.node)
                )
            else:
                is_open = not self._is_called(method)
            if is_open:
                self._guarded(built, method, partial(self._call_method, cls, instance, method), found)

    def _builds_with_functions(self, cls: ast.ClassDef) -> bool:
        """Return whether a constructor tells what functions of the file get that make a difference."""
        used = {
            node.id
            for stmt in cls.body
            if isinstance(stmt, _Method) and stmt.name == "__init__"
            for node in walk(stmt)
            if isinstance(node, ast.Name)
        }
        functions = (each for each in _definitions(self._module.tree.tree.body) if isinstance(each, _Method))
        return any(each.name in used and self._facts.may_matter(self._module, each) for each in functions)

    def _run_as_framework(self, instance: Pointer) -> None:
        """Call the methods of an instance as the framework of its base class does."""
        kept = object_at(self._interp, instance, FrameworkInstance)
        assert kept is not None
        assert kept.cls is not None
        name = ast.Name(kept.name, ast.Load())
        kept.run(self._interp, instance, ast.copy_location(ast.Call(name, [], []), kept.cls.node))

    def _call_method(self, cls: ClassValue, instance: Pointer, node: _Method, method: Function) -> None:
        """Call a method of an instance, whose value is another function than its node if it is decorated."""
        interp = self._interp
        function = method if method.node is node else make_function(interp, node)
        if method.kind == "property":
            interp.attribute(instance, node.name, node)
        elif method.kind == "static":
            self._call(method, function, cls.node)
        elif method.kind in ("function", "class"):
            self._call(Bound(method, cls if method.kind == "class" else instance), function, cls.node, 1)


def _is_decorated(definition: _Definition) -> TypeGuard[_Method]:
    """Return whether a function is what its decorators return."""
    return isinstance(definition, _Method) and bool(definition.decorator_list)


def _is_private(name: str) -> bool:
    """Return whether a name is private: its callers are in the project, and leave out nothing that they know."""
    return name.startswith("_") and not name.startswith("__")


def _is_entry(function: _Method) -> bool:
    """Return whether a function may start a program: it needs no arguments, or those of a command line."""
    spec = function.args
    required = [*spec.posonlyargs, *spec.args][: len(spec.posonlyargs) + len(spec.args) - len(spec.defaults)]
    required += [each for each, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is None]
    return not _is_private(function.name) and {each.arg for each in required} <= _OPTIONS


_OPTIONS = frozenset({"args", "argv", "cfg", "config", "opt", "opts", "conf", "hparams", "params", "flags"})


def _places_values(function: ast.AST) -> bool:
    """Return whether a function sends something to a device itself: ``.cuda()``, ``.to(DEVICE)``, ``"cuda:0"``."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ("cuda", "to"))
        or (isinstance(node, ast.keyword) and node.arg in ("device", "device_map"))
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda"))
        for node in walk(function)
    )


def _definitions(body: list[ast.stmt]) -> Iterator[_Definition]:
    """Yield the functions and classes of a file, also those under a condition."""
    for stmt in body:
        if isinstance(stmt, _Definition):
            yield stmt
        elif isinstance(stmt, (ast.If, ast.Try)):
            yield from _definitions([*stmt.body, *stmt.orelse])


def _methods(cls: ast.ClassDef) -> list[_Method]:
    """Return the methods of a class: ``forward`` first, then public ones, then those that the class calls itself."""
    found = [stmt for stmt in cls.body if isinstance(stmt, _Method) and stmt.name != "__init__"]
    used = {node.attr for node in walk(cls) if isinstance(node, ast.Attribute)}
    return sorted(found, key=lambda each: (each.name not in ("forward", "__call__"), each.name in used))


def _callers_of_hooks(cls: ast.ClassDef, names: FileNames) -> Iterator[tuple[ast.ClassDef, _Method]]:
    """Yield the methods of bases in the file that call methods which a class defines: they know what to pass."""
    own = {stmt.name for stmt in cls.body if isinstance(stmt, _Method)}
    for base in names.lineage(cls)[1:]:
        for method in _methods(base):
            read = {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}
            if method.name not in own and not read.isdisjoint(own - {"__init__", "forward"}):
                yield base, method


def _read_names(tree: SourceTree) -> frozenset[str]:
    """Return the names and attributes that a file reads."""
    return frozenset(
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in tree.nodes
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load)
    )


def _called_names(function: ast.AST) -> set[str]:
    """Return the functions that a function calls by name, and methods of its own object: ``self.step``."""
    calls = (node.func for node in walk(function) if isinstance(node, ast.Call))
    return {text_of(func) for func in calls if isinstance(func, ast.Name) or text_of(func).startswith("self.")}


def _users_first(definitions: list[_Definition]) -> list[_Definition]:
    """Return functions and classes in an order in which each follows those that use it; cycles are cut somewhere."""
    by_name = {each.name: each for each in definitions}
    used = {
        each: {node.id for node in walk(each) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        for each in definitions
    }
    ordered: list[_Definition] = []
    seen: set[ast.AST] = set()

    def visit(definition: _Definition) -> None:
        if definition not in seen:
            seen.add(definition)
            for other in reversed(definitions):
                if other.name in used[definition] and by_name[other.name] is other:
                    visit(other)
            ordered.append(definition)

    functions = [each for each in definitions if isinstance(each, _Method)]
    classes = [each for each in definitions if isinstance(each, ast.ClassDef)]
    for definition in (*reversed(classes), *reversed(functions)):
        visit(definition)
    return ordered[::-1]
