"""Factory calls, and the edits that create the same tensor on another device."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import External
from devfix.analysis.scopes import visible
from devfix.fixes.insertion_point import enclosing
from devfix.model import AddKeyword, AppendCode, Edit, ReplaceExpression
from devfix.models.index import lookup
from devfix.models.names import CPU_ONLY_FACTORIES, RANDOM_FACTORIES, RANDOM_METHODS
from devfix.syntax.bindings import defaults
from devfix.syntax.tree import SourceTree, walk

__all__ = ["FactoryCall", "chain_end", "initialized_later"]

# Methods whose result is on the device of their tensor: a move may precede or follow them.
_DEVICE_PRESERVING = frozenset(
    "view reshape expand expand_as unsqueeze squeeze repeat permute transpose t flatten contiguous float double half "
    "long int bool type to clamp abs exp log sqrt tril triu masked_fill fill_ zero_ mul add sub div mul_ add_ sub_ "
    "div_ clamp_ clone flip roll cumsum view_as".split()
)


@dataclass(frozen=True, eq=False)
class FactoryCall:
    """A call that creates a tensor on the CPU: ``torch.zeros(n, 3)``, ``torch.randn(n).view(-1, 1)``.

    ``takes_device``: the function has a parameter ``device``.
    """

    tree: SourceTree
    call: ast.Call
    takes_device: bool = True

    @classmethod
    def at(cls, point: ProgramPoint) -> FactoryCall:
        """Return the call at the program point where a tensor is created."""
        assert isinstance(point.node, ast.Call)
        func = point.node.func
        model = lookup(_full_name(point, func))
        if model is None and isinstance(func, ast.Attribute):  # a method of what nothing is known of here
            model = lookup(f"torch.Tensor.{func.attr}") or lookup(f"torch.{func.attr}")
        signatures = model.signatures if model is not None else ()
        takes_device = any(each.parameter("device") is not None for each in signatures)
        return cls(point.tree, point.node, takes_device)

    @property
    def name(self) -> str:
        """The function's name: ``zeros`` of ``torch.zeros(...)``."""
        func = self.call.func
        return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""

    @property
    def text(self) -> str:
        """The name to which the tensor is assigned, else the call's text; for messages."""
        statement = self.tree.statement(self.call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if len(targets) == 1 and isinstance(targets[0], (ast.Name, ast.Attribute)):
            assert isinstance(statement, ast.Assign)
            if statement.value is self._outermost_call(chain_end(self.tree, self.call)):
                return ast.unparse(targets[0])
        return f"{ast.unparse(self.call.func)}(...)"

    def _outermost_call(self, call: ast.Call) -> ast.Call:
        """Return the outermost PyTorch call on the tensor in the same expression: ``torch.tril(...)``."""
        outer = self.tree.parents.get(call)
        if isinstance(outer, ast.Call) and outer.args[:1] == [call] and ast.unparse(outer.func).startswith("torch."):
            return self._outermost_call(chain_end(self.tree, outer))
        return call

    @property
    def is_random(self) -> bool:
        """Whether the call, or a method chained to it, generates random numbers."""
        return self.name in RANDOM_FACTORIES or chain_end(self.tree, self.call, RANDOM_METHODS) is not self.call

    @property
    def has_device_argument(self) -> bool:
        """Whether the call has ``device=`` (or may have it, through ``**``)."""
        return any(keyword.arg in ("device", None) for keyword in self.call.keywords)

    def _may_be_none(self, device: str) -> bool:
        """Return whether ``x.device`` is of a parameter whose default is ``None``."""
        function = self.tree.function(self.call)
        spec = function.args if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        given = defaults(spec) if spec is not None else {}
        return any(each.arg == re.split(r"\W", device)[0] for each in given)

    def _optional_device(self) -> ast.Name | None:
        """Return the argument of ``device=`` if it is a parameter whose default is ``None``, and nothing else."""
        given = next((keyword.value for keyword in self.call.keywords if keyword.arg == "device"), None)
        if any(keyword.arg in ("pin_memory", None) for keyword in self.call.keywords):
            return None  # only memory of the CPU can be pinned
        function = self.tree.function(self.call)
        if not isinstance(given, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        if any(isinstance(node, ast.Name) and node.id == given.id and _is_stored(node) for node in walk(function)):
            return None
        default = next((value for each, value in defaults(function.args).items() if each.arg == given.id), None)
        return given if isinstance(default, ast.Constant) and default.value is None else None

    @property
    def takes_its_result(self) -> bool:
        """Whether the next round of a loop passes the result to the call again, which takes no moved tensor.

        ``for …: x = torch.FloatTensor(x)``
        """
        if self.takes_device and self.name not in CPU_ONLY_FACTORIES:
            return False
        match self.tree.statement(self.call), self.call.args:
            case ast.Assign(targets=[ast.Name(id=name)]) as statement, [ast.Name(id=argument), *_] if argument == name:
                loops = enclosing(self.tree, statement, (ast.For, ast.AsyncFor, ast.While))
                inner = [node for node in walk(loops[0]) if isinstance(node, ast.Name)] if loops else []
                written = [node for node in inner if node.id == name and _is_stored(node)]
                return bool(loops) and written == statement.targets
        return False

    def edit(self, device: str) -> Edit | None:
        """Return the edit that creates the tensor on ``device`` with the same random numbers as now.

        ``None`` if the call already has a device; one that callers may leave out is used if they do not.
        """
        path = self.tree.path
        optional = self._optional_device()
        if optional is not None and not self.is_random and not self._may_be_none(device):
            code = f"{device} if {optional.id} is None else {optional.id}"
            return ReplaceExpression(path, self.tree.span(optional), code)
        if self.has_device_argument:
            return None
        has_type_call = (
            chain_end(self.tree, self.call, frozenset({"type"})) is not self.call
        )  # .type() returns a CPU tensor
        if self.takes_device and not (self.is_random or has_type_call or self.name in CPU_ONLY_FACTORIES):
            return AddKeyword(path, self.tree.span(self.call), "device", device)
        if self.takes_its_result:
            return None
        leaf = next((keyword for keyword in self.call.keywords if keyword.arg == "requires_grad"), None)
        if leaf is not None:  # a moved tensor is not a leaf: move it before requires_grad_()
            arguments = [*self.call.args, *(keyword for keyword in self.call.keywords if keyword is not leaf)]
            listed = ", ".join(self.tree.source(argument) for argument in arguments)
            code = f"{self.tree.source(self.call.func)}({listed}).to({device})"
            requires_grad_call = f".requires_grad_({'' if _is_true(leaf.value) else self.tree.source(leaf.value)})"
            return ReplaceExpression(path, self.tree.span(self.call), code + requires_grad_call)
        end = chain_end(self.tree, self.call, _DEVICE_PRESERVING | RANDOM_METHODS)
        return AppendCode(path, self.tree.span(end), f".to({device})")


def _full_name(point: ProgramPoint, node: ast.expr) -> str:
    """Return the full name of a function outside the program; ``""`` if it is none."""
    if isinstance(node, ast.Attribute):
        owner = _full_name(point, node.value)
        return f"{owner}.{node.attr}" if owner else ""
    value = visible(point, point.call_frame).get(node.id) if isinstance(node, ast.Name) else None
    return value.name if isinstance(value, External) else ""


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def chain_end(tree: SourceTree, call: ast.Call, methods: frozenset[str] = _DEVICE_PRESERVING) -> ast.Call:
    """Return the last call of a chain of ``methods`` that starts with ``call``; ``call`` itself if there is none."""
    while True:
        attribute = tree.parents.get(call)
        if not isinstance(attribute, ast.Attribute) or attribute.attr not in methods:
            return call
        outer = tree.parents.get(attribute)
        if not isinstance(outer, ast.Call) or outer.func is not attribute:
            return call
        call = outer


def initialized_later(factory: FactoryCall) -> tuple[str, ast.stmt] | None:
    """Return the name of a tensor that later statements fill with random numbers, and the last of them in its block.

    https://docs.pytorch.org/docs/stable/nn.init.html
    """
    tree = factory.tree
    statement = tree.statement(factory.call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    _, block, index = tree.block(statement)
    initializers = [
        later for later in block[index + 1 :] if any(_fills_randomly(n, target.id) for n in ast.walk(later))
    ]
    return (target.id, initializers[-1]) if initializers else None


def _fills_randomly(node: ast.AST, name: str) -> bool:
    """Whether a node is a call that fills ``name`` with random numbers in place."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in RANDOM_METHODS and node.func.attr.endswith("_"):
        return isinstance(node.func.value, ast.Name) and node.func.value.id == name
    is_argument = bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id == name
    return is_argument and "init." in ast.unparse(node.func) and node.func.attr.endswith("_")
