"""How a tensor is made, and how the same call makes it on another device."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devfix.model import AddKeyword, AppendCode, Edit, ReplaceExpression
from devfix.models.tensor_methods import RANDOM_FACTORIES, RANDOM_METHODS, CPU_ONLY_FACTORIES
from devfix.syntax.tree import SourceTree

__all__ = ["Making", "chain_end", "drawn_later"]

# Methods that a move may follow as well as precede: they give a tensor where their own is.
_FOLLOWED = frozenset(
    "view reshape expand expand_as unsqueeze squeeze repeat permute transpose t flatten contiguous float double half "
    "long int bool type to clamp abs exp log sqrt tril triu masked_fill fill_ zero_ mul add sub div mul_ add_ sub_ "
    "div_ clamp_ clone flip roll cumsum view_as".split()
)


@dataclass(frozen=True, eq=False)
class Making:
    """A call that makes a tensor on the CPU: ``torch.zeros(n, 3)``, ``torch.randn(n).view(-1, 1)``."""

    tree: SourceTree
    call: ast.Call

    @property
    def name(self) -> str:
        """``zeros`` of ``torch.zeros(...)``."""
        func = self.call.func
        return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""

    @property
    def words(self) -> str:
        """What people call the tensor: the name that it is given at once, else the call's name."""
        statement = self.tree.statement(self.call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if len(targets) == 1 and isinstance(targets[0], (ast.Name, ast.Attribute)):
            assert isinstance(statement, ast.Assign)
            if statement.value is self._wrapped(chain_end(self.tree, self.call)):
                return ast.unparse(targets[0])
        return f"{ast.unparse(self.call.func)}(...)"

    def _wrapped(self, call: ast.Call) -> ast.Call:
        """The outermost of the functions of PyTorch that are called on the tensor at once: ``torch.tril(...)``."""
        outer = self.tree.parents.get(call)
        if isinstance(outer, ast.Call) and outer.args[:1] == [call] and ast.unparse(outer.func).startswith("torch."):
            return self._wrapped(chain_end(self.tree, outer))
        return call

    @property
    def draws(self) -> bool:
        """Whether random numbers go into the tensor, in the call or in a method that follows at once."""
        return self.name in RANDOM_FACTORIES or chain_end(self.tree, self.call, RANDOM_METHODS) is not self.call

    @property
    def names_its_device(self) -> bool:
        """Whether the call says ``device=`` (or may, with ``**``)."""
        return any(keyword.arg in ("device", None) for keyword in self.call.keywords)

    def edit(self, device: str) -> Edit | None:
        """The edit after which the tensor is made on ``device``, with the random numbers that it has now.

        ``None`` where the call names a device already.
        """
        path = self.tree.path
        if self.names_its_device:
            return None
        typed = chain_end(self.tree, self.call, frozenset({"type"})) is not self.call  # that brings it to the CPU again
        if not (self.draws or typed or self.name in CPU_ONLY_FACTORIES):
            return AddKeyword(path, self.tree.span(self.call), "device", device)
        leaf = next((keyword for keyword in self.call.keywords if keyword.arg == "requires_grad"), None)
        if leaf is not None:  # a move makes a tensor that is no leaf: it must come first
            arguments = [*self.call.args, *(keyword for keyword in self.call.keywords if keyword is not leaf)]
            listed = ", ".join(self.tree.source(argument) for argument in arguments)
            code = f"{self.tree.source(self.call.func)}({listed}).to({device})"
            asks = f".requires_grad_({'' if _is_true(leaf.value) else self.tree.source(leaf.value)})"
            return ReplaceExpression(path, self.tree.span(self.call), code + asks)
        end = chain_end(self.tree, self.call, _FOLLOWED | RANDOM_METHODS)
        return AppendCode(path, self.tree.span(end), f".to({device})")


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def chain_end(tree: SourceTree, call: ast.Call, methods: frozenset[str] = _FOLLOWED) -> ast.Call:
    """The last call of a chain of ``methods`` that starts with ``call``; ``call`` itself where there is none."""
    while True:
        attribute = tree.parents.get(call)
        if not isinstance(attribute, ast.Attribute) or attribute.attr not in methods:
            return call
        outer = tree.parents.get(attribute)
        if not isinstance(outer, ast.Call) or outer.func is not attribute:
            return call
        call = outer


def drawn_later(making: Making) -> tuple[str, ast.stmt] | None:
    """The name of a tensor that gets random numbers in a later statement, and the last such statement of its block.

    https://docs.pytorch.org/docs/stable/nn.init.html
    """
    tree = making.tree
    statement = tree.statement(making.call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    _, block, index = tree.block(statement)
    drawing = [later for later in block[index + 1 :] if any(_draws_into(n, target.id) for n in ast.walk(later))]
    return (target.id, drawing[-1]) if drawing else None


def _draws_into(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in RANDOM_METHODS and node.func.attr.endswith("_"):
        return isinstance(node.func.value, ast.Name) and node.func.value.id == name
    given = bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id == name
    return given and "init." in ast.unparse(node.func) and node.func.attr.endswith("_")
