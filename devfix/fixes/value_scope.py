"""Expressions for a device at a program point, by the values that the analysis has established."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from devfix.analysis import Observations
from devfix.analysis.domain.classes import external_bases
from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import Module, module_at
from devfix.analysis.domain.values import (
    ACCELERATOR,
    UNKNOWN,
    Pointer,
    Tensor,
    Value,
    alternatives,
)
from devfix.analysis.scopes import is_device, is_index, module_names, serves, value_of, visible
from devfix.fixes.device_expression import (
    BESIDE_TENSOR,
    FOR_MOVE,
    FOR_TENSOR,
    Query,
    Source,
    device_expression,
)
from devfix.fixes.insertion_point import all_live, inside_module
from devfix.fixes.live_devices import is_distant, live_devices
from devfix.fixes.module_weights import has_weights_on_accelerator
from devfix.fixes.optional_values import tests_for_tensor
from devfix.fixes.replicas import has_replicas
from devfix.models.index import root_of
from devfix.models.names import DEVICE_PLACING_TRAINERS
from devfix.syntax.bindings import assigned_names, bound_before, iterated_names, parameters
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import SourceTree, text_of, walk

__all__ = [
    "ValueScope",
    "bound_at",
    "device_for_move",
    "device_for_tensor",
    "is_bound",
    "live_devices",
    "optional_parameters",
]

_DEVICES = (0, 4)  # tensors have a device since then: https://github.com/pytorch/pytorch/releases/tag/v0.4.0
_READS_DEVICE = frozenset({Source.OPERAND, Source.PARAMETERS, Source.MODULE, Source.MISMATCHED_MODULE})
_PLAIN_TYPES = ("bool", "float", "int", "str")


def device_for_tensor(
    observations: Observations,
    point: ProgramPoint,
    call_frame: CallFrame,
    partners: Iterable[str] = (),
    outside: bool = True,
    fits: Callable[[str], bool] = lambda _: True,
) -> str | None:
    """Return an expression for the device of a tensor; ``None`` if nothing names it.

    Args:
        observations: the observations of the program.
        point: the program point at which the tensor is created or moved.
        call_frame: the frame of its call stack in which the expression is to stand.
        partners: expressions for the other operands, which are on the accelerator.
        outside: also use devices that the function neither reads nor holds.
        fits: reject expressions for a device, an operand or a module.

    """
    order = FOR_TENSOR if outside else BESIDE_TENSOR
    query = Query(partners=tuple(partners), bound=True, fits=fits)
    return device_expression(ValueScope(observations, point, call_frame), order, query)


def device_for_move(
    observations: Observations, point: ProgramPoint, call_frame: CallFrame, like: str | None = None
) -> str | None:
    """Return an expression for the device of a move, preferably ``like``, the device of another move."""
    return device_expression(ValueScope(observations, point, call_frame), FOR_MOVE, Query(like))


class ValueScope:
    """A frame of a program point's call stack: a :class:`devfix.fixes.device_expression.Scope`."""

    def __init__(self, observations: Observations, point: ProgramPoint, call_frame: CallFrame) -> None:
        self.observations = observations
        self.point = point
        self.call_frame = call_frame

    def expressions(self, source: Source, query: Query) -> Iterable[str]:
        """Return the expressions of one source, best first."""
        release = self.observations.release
        if source in _READS_DEVICE and release is not None and release < _DEVICES:
            return ()
        match source:
            case Source.PREFERRED:
                return [text for text in self._named(query) if text == self.observations.preferred_device]
            case Source.SIMILAR:
                return self._similar(query.like)
            case Source.USED:
                return self._used(query)
            case Source.FRAMEWORK:
                return self._own(query) if _is_placed_by_framework(self.call_frame) else ()
            case Source.MOVES:
                return self._destinations(query)
            case Source.OPERAND:
                return self._operands(query)
            case Source.ATTRIBUTE:
                return self._own(query)
            case Source.PARAMETERS:
                return self._parameters(query)
            case Source.LIVE:
                return self._named(query)
            case Source.MISMATCHED_MODULE:
                return self._mismatched_modules(query)
            case Source.MODULE:
                return self._modules(query)
            case Source.LITERAL:
                return [query.like] if query.like is not None and _is_literal(query.like) else ()
            case Source.FILE_LITERAL:
                return self._file_literals()

    @cached_property
    def live(self) -> list[str]:
        """The live expressions for a device, best first; locals and globals precede attributes."""
        found = live_devices(self.point, self.call_frame, self.observations.preferred_device)
        return [text for text in found if not self._is_of_given_module(text)]

    def _is_of_given_module(self, text: str) -> bool:
        """Return whether ``model.device`` is an attribute of an argument's class, which other modules need not have."""
        root, _, name = text.partition(".")
        state = self.point.state
        if not name or root == "self" or root not in parameters(self.call_frame.activation.node) or state is None:
            return False
        value = visible(self.point, self.call_frame).get(root)
        given = [module_at(state, option) for option in alternatives(value or UNKNOWN) if isinstance(option, Pointer)]
        classes = [module.cls for module in given if module is not None and module.cls is not None]
        return any(each.module.tree is not self.call_frame.tree for each in classes)

    def _named(self, query: Query) -> list[str]:
        if not query.bound:
            return self.live
        return [text for text in self.live if is_bound(self.call_frame, text) and query.fits(text)]

    def _used(self, query: Query) -> Iterator[str]:
        function = self.call_frame.activation.node
        used = _read_in(function) | (set() if isinstance(function, ast.Module) else assigned_names(function))
        yield from (text for text in self._named(query) if text in used)

    def _own(self, query: Query) -> Iterator[str]:
        yield from (text for text in self._named(query) if text.startswith("self."))

    def _similar(self, like: str | None) -> Iterator[str]:
        if like is None:
            return
        try:
            node = ast.parse(like, mode="eval").body
        except SyntaxError:
            return
        is_call = not self.live and isinstance(node, ast.Call) and all_live(self.point, self.call_frame, node)
        if like in self.live or is_call or self._is_device_here(node, like):
            yield like

    def _is_device_here(self, node: ast.expr, text: str) -> bool:
        """Return whether ``local_rank`` or ``CONFIG["device"]`` is an index or a device in this scope."""
        value = value_of(self.point, self.call_frame, node)
        if value is None or not (is_index(value) or is_device("device", value)):
            return False
        return serves(self.point, self.call_frame, text)

    def _destinations(self, query: Query) -> Iterator[str]:
        """Yield destinations of the function's moves that are a device here, too, such as ``config["device"]``."""
        call_frame = self.call_frame
        transfers = [each.point for each in self.observations.transfers if each.device == ACCELERATOR.kind]
        for move in (*self.observations.moves, *transfers):
            call = move.node
            if move.call_frame.activation.node is not call_frame.activation.node:
                continue
            if not isinstance(call, ast.Call) or not call.args or _needs_condition(call.args[0], move, call_frame):
                continue
            value, text = value_of(self.point, call_frame, call.args[0]), ast.unparse(call.args[0])
            if not (is_device("device", value) if value is not None else _is_settled(call.args[0], call_frame, call)):
                continue
            if is_bound(call_frame, text) and query.fits(text) and serves(self.point, call_frame, text):
                yield move.tree.source(call.args[0])

    def _operands(self, query: Query) -> Iterator[str]:
        """Yield the devices of names that are certainly one tensor on the accelerator, bound on every path.

        Those whose device the function reads come first, then its parameters; among them, and among its other names,
        the partners, then the operands of the expression at the program point.
        """
        point, call_frame = self.point, self.call_frame
        given = set(parameters(call_frame.activation.node))
        may_be_none = optional_parameters(call_frame.activation.node)
        optional = may_be_none if self.observations.is_library else frozenset()
        candidates = list(self._operand_candidates(query.partners))
        read = {text for text in map(ast.unparse, candidates) if _reads(call_frame, text, ("device",))}

        def order(node: ast.expr) -> tuple[bool, bool, bool]:
            return _root(node) in may_be_none, ast.unparse(node) not in read, _root(node) not in given

        for node in sorted(candidates, key=order):
            value = value_of(point, call_frame, node)
            there = value is not None and (
                _is_on_accelerator(value)
                or (ast.unparse(node) in read and _has_device_there(value))
                or (_is_on_accelerator(value, maybe_container=True) and _has_a_shape(call_frame, node))
            )
            there = there and not (isinstance(node, ast.Name) and node.id in optional)
            there = there and not (isinstance(node, ast.Name) and node.id in _numbers(call_frame.activation.node))
            there = there and not (isinstance(node, ast.Name) and node.id in iterated_names(call_frame.activation.node))
            there = there and not tests_for_tensor(call_frame.activation.node, _root(node))
            there = there and not _is_indexed_twice(call_frame, node)
            if there and bound_at(call_frame, _root(node)) and query.fits(ast.unparse(node)):
                yield f"{ast.unparse(node)}.device"

    def _operand_candidates(self, partners: Iterable[str]) -> Iterator[ast.expr]:
        point, function = self.point, self.call_frame.activation.node
        for text in partners:
            try:
                yield from _chains(ast.parse(text, mode="eval").body)
            except SyntaxError:
                continue
        if self.call_frame is point.call_frame:
            yield from _chains(point.node)
        assert point.state is not None
        local = point.state.names(self.call_frame.activation.env)
        given = parameters(function)
        names = [*(name for name in given if name in local), *(name for name in local if name not in given)]
        if isinstance(function, ast.Module):
            names = []  # all names of the program: none is closer than another
        for name in names:
            yield ast.Name(name, ast.Load())

    def _parameters(self, query: Query) -> Iterator[str]:
        """Yield ``next(self.parameters()).device`` in a method of a module with all weights on the accelerator."""
        if not inside_module(self.call_frame) or not query.fits("self") or has_replicas(self.observations):
            return
        own = visible(self.point, self.call_frame).get("self")
        if not isinstance(own, Pointer) or self.point.state is None:
            return
        if has_weights_on_accelerator(self.point, own):
            yield "next(self.parameters()).device"

    def _modules(self, query: Query) -> Iterator[str]:
        point, call_frame = self.point, self.call_frame
        for name, value in visible(point, call_frame).items():
            there = isinstance(value, Pointer) and has_weights_on_accelerator(point, value)
            usable = there and name != "self" and is_bound(call_frame, name) and query.fits(name)
            if usable and not is_distant(point, call_frame, name):
                yield f"next({name}.parameters()).device"

    def _mismatched_modules(self, query: Query) -> Iterator[str]:
        assert self.point.state is not None
        above = set(query.modules)
        for key, obj in self.point.state.heap_objects():
            if isinstance(obj, Module) and any(getattr(value, "id", None) in above for value in obj.fields.values()):
                above.add(key)
        for name in module_names(self.point, self.call_frame, above):
            if name != "self":
                yield f"next({name}.parameters()).device"

    def _file_literals(self) -> Iterator[str]:
        tree = self.call_frame.tree
        for node in tree.nodes:
            constant = node.value if isinstance(node, ast.keyword) and node.arg == "device" else None
            if isinstance(constant, ast.Constant) and parse_device(str(constant.value)) == ACCELERATOR:
                test = _test_for_accelerator(tree, constant, self.call_frame.stmt)
                literal = tree.source(constant)
                yield literal if test is None else f'{literal} if {test} else "cpu"'


def _test_for_accelerator(tree: SourceTree, node: ast.AST, stmt: ast.stmt) -> str | None:
    """Return the test for an accelerator around a node, but not around a statement: ``torch.cuda.is_available()``."""
    around = set(tree.ancestors(stmt))
    for parent in tree.ancestors(node):
        if isinstance(parent, ast.If) and parent not in around:
            test = tree.source(parent.test)
            if isinstance(parent.test, ast.Call) and test.endswith(".is_available()"):
                return test
    return None


@node_cache(1024)
def optional_parameters(function: ast.AST) -> frozenset[str]:
    """Return the parameters whose default is ``None``: an unknown caller may leave them out."""
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return frozenset()
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return frozenset(each.arg for each, default in pairs if isinstance(default, ast.Constant) and default.value is None)


def _numbers(function: ast.AST) -> frozenset[str]:
    """Return the parameters that are declared as numbers or texts, ``length: int``: another caller passes no tensor."""
    declared = [each for each in ast.walk(function) if isinstance(each, ast.arg)]
    plain = [each for each in declared if isinstance(each.annotation, ast.Name) and each.annotation.id in _PLAIN_TYPES]
    return frozenset(each.arg for each in plain)


def is_bound(call_frame: CallFrame, text: str) -> bool:
    """Return whether the root name of an expression has a value on every path to the frame's statement."""
    root = text.split(".")[0].split("[")[0]
    return root not in assigned_names(call_frame.activation.node) or bound_at(call_frame, root)


def bound_at(call_frame: CallFrame, name: str) -> bool:
    return bound_before(call_frame.tree, call_frame.activation.node, call_frame.stmt, name)


def _is_placed_by_framework(call_frame: CallFrame) -> bool:
    """Return whether a frame runs a method of a class that a framework gives a device: Lightning's ``self.device``."""
    function = call_frame.activation.function
    owner = function.owner if function is not None else None
    names = external_bases(owner) if owner is not None else ()
    return any(root_of(name) == "Placed" or name.startswith(DEVICE_PLACING_TRAINERS) for name in names)


def _is_settled(node: ast.expr, call_frame: CallFrame, call: ast.Call) -> bool:
    """Return whether the destination of ``call``, of unknown value, is an entry that nothing reassigns later."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    text, first = ast.unparse(node), min(call.lineno, call_frame.stmt.lineno)
    changed = [
        inner
        for inner in ast.walk(call_frame.activation.node)
        if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(inner.ctx, ast.Load)
    ]
    late = [ast.unparse(inner) for inner in changed if inner.lineno >= first]
    return _root_or_none(node.value) is not None and not any(text.startswith(f"{one}[") or text == one for one in late)


def _needs_condition(node: ast.expr, move: ProgramPoint, call_frame: CallFrame) -> bool:
    """Return whether a destination was tested before its move, and the test does not cover the frame's statement.

    ``self.device_ids[0]`` under ``if self.device_ids is not None`` is no device elsewhere.
    """
    chains = {text_of(part) for part in _chains(node)} - {"self"}
    inner: ast.AST = move.node
    for parent in move.tree.ancestors(move.node):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(parent, (ast.If, ast.IfExp)) and inner is not parent.test:
            tested = {text_of(part) for part in _chains(parent.test)}
            branch = parent.orelse if _lies_in(inner, parent.orelse) else parent.body
            if chains & tested and not _lies_in(call_frame.stmt, branch):
                return True
        inner = parent
    return False


def _lies_in(node: ast.AST, branch: list[ast.stmt] | ast.expr) -> bool:
    parts = branch if isinstance(branch, list) else [branch]
    return any(node is inner for part in parts for inner in ast.walk(part))


def _has_a_shape(call_frame: CallFrame, node: ast.expr) -> bool:
    """Return whether the function reads the shape of a value, which a tuple of tensors does not have."""
    return _reads(call_frame, ast.unparse(node), ("shape", "size", "ndim"))


def _reads(call_frame: CallFrame, text: str, attributes: tuple[str, ...]) -> bool:
    """Return whether the function reads one of these attributes of a value."""
    return any(
        isinstance(inner, ast.Attribute) and inner.attr in attributes and text_of(inner.value) == text
        for inner in walk(call_frame.activation.node)
    )


def _is_indexed_twice(call_frame: CallFrame, node: ast.expr) -> bool:
    """Return whether the function reads items of a value's items, ``outputs[0][1]``: it may hold several tensors."""
    text = ast.unparse(node)
    return any(
        isinstance(inner, ast.Subscript)
        and isinstance(inner.value, ast.Subscript)
        and ast.unparse(inner.value.value) == text
        for inner in walk(call_frame.activation.node)
    )


def _is_on_accelerator(value: Value, maybe_container: bool = False) -> bool:
    """Return whether a value is a tensor on the accelerator; with ``maybe_container``, or a container of some."""
    return all(
        isinstance(option, Tensor)
        and option.device == ACCELERATOR
        and option.is_certain
        and (maybe_container or not option.maybe_container)
        for option in alternatives(value)
    )


def _has_device_there(value: Value) -> bool:
    """Return whether a value is on the accelerator: a tensor, or what the function takes for one."""
    return all(isinstance(option, Tensor) and option.device == ACCELERATOR for option in alternatives(value))


def _chains(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the names and attribute chains in an expression; longest first, from left to right."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Attribute) and _root_or_none(node) is not None:
        yield node
        yield from _chains(node.value)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _chains(child)


def _root_or_none(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _root(node: ast.expr) -> str:
    return _root_or_none(node) or ""


@node_cache(8)
def _read_in(function: ast.AST) -> frozenset[str]:
    """Return the names and attribute chains that a function reads, and its parameters."""
    found = set(parameters(function))
    for node in walk(function):
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        if _root_or_none(node) is not None:
            found.add(text_of(node))
    return frozenset(found)


def _is_literal(text: str) -> bool:
    try:
        return isinstance(ast.parse(text, mode="eval").body, ast.Constant)
    except SyntaxError:
        return False
