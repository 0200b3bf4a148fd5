"""## What it does
Finds parameters, and tensors made with `requires_grad=True`, that are moved after they were made and then registered,
optimised, or asked for their gradient.

## Why is this bad?
`.to()` of a leaf returns a copy that is computed from it. On the CPU it is the leaf itself, so the program works there;
on the accelerator the copy is not registered with its module, gets no `.grad`, and an optimizer refuses it with *can't
optimize a non-leaf Tensor*.

## Example
```python
self.scale = nn.Parameter(torch.ones(dim)).to(device)
```

## Use instead
```python
self.scale = nn.Parameter(torch.ones(dim).to(device))
```

## Fix safety
Safe: the values are the same, and the tensor is what the author meant it to be.

## References
- [Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
- [Parameter](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.move_observations import LeafMove
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import device_at, names_in
from devfix.model import AddKeyword, AppendCode, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree

__all__ = ["RULE"]

_TOLD = {
    "attribute": "it is not registered as a parameter",
    "optimizer": "the optimizer refuses it",
    "grad": "its gradient is never computed",
}
# What depends on the random numbers of the device that makes it.
_RANDOM = frozenset("rand randn randint randperm normal".split())


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per move of a leaf whose copy is used as a leaf."""
    for move in observations.leaf_moves.values():
        use = next((use for use in _TOLD if use in move.uses and _needs_leaf(move, use)), None)
        if use is not None:
            yield _finding(observations, move, use)


def _needs_leaf(move: LeafMove, use: str) -> bool:
    """Whether a use fails with a copy: any tensor can be an attribute, and one that retains its gradient has one."""
    if use == "attribute":
        return move.kind == "parameter"
    return use != "grad" or "retained" not in move.uses


def _finding(observations: Observations, move: LeafMove, use: str) -> Finding:
    tree = move.point.tree
    edits = _edits(observations, move)
    what = "parameter" if move.kind == "parameter" else "tensor with requires_grad=True"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR,
        tree.path,
        tree.span(move.call),
        f"a {what} is moved after it was made, and the copy is no leaf: {_TOLD[use]}",
        event_path(
            (move.made, "created", "the leaf is made here"),
            (move.point, "moved", "this is a copy of it on the accelerator"),
            (move.uses[use], "used", _TOLD[use]),
        ),
        (Fix("make the leaf on the device", edits),) if edits else (),
        "" if edits else "the leaf is made in another place: make it on the device there",
    )


def _edits(observations: Observations, move: LeafMove) -> tuple[Edit, ...]:
    tree, call = move.point.tree, move.call
    assert isinstance(call.func, ast.Attribute)
    made = call.func.value
    trailer = tree.source(call)[len(tree.source(made)) :]
    if isinstance(made, ast.Call):
        if move.kind == "asked":
            return (ReplaceExpression(tree.path, tree.span(call), _asked(tree, made, trailer)),)
        code = _parameter(tree, made, trailer) if move.kind == "parameter" else _leaf(tree, made, call, trailer)
        return (ReplaceExpression(tree.path, tree.span(call), code),) if code is not None else ()
    if move.kind == "parameter":
        return _named_parameter(move, made, trailer)
    if move.kind == "leaf" and move.made is not None and isinstance(move.made.node, ast.Call):
        return _made_before(observations, move)
    return ()


def _parameter(tree: SourceTree, made: ast.Call, trailer: str) -> str | None:
    """``nn.Parameter(x).to(device)`` becomes ``nn.Parameter(x.to(device))``."""
    if not made.args:
        return None
    data = made.args[0]
    inner = tree.source(data)
    if not isinstance(data, (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
        inner = f"({inner})"
    rest = [tree.source(other) for other in made.args[1:]] + [_keyword(tree, keyword) for keyword in made.keywords]
    return f"{tree.source(made.func)}({', '.join([inner + trailer, *rest])})"


def _asked(tree: SourceTree, made: ast.Call, trailer: str) -> str:
    """``x.requires_grad_().to(device)`` becomes ``x.to(device).requires_grad_()``."""
    inner, asks, end = tree.source(made).rpartition(".requires_grad_")
    return f"{inner}{trailer}{asks}{end}"


def _named_parameter(move: LeafMove, made: ast.expr, trailer: str) -> tuple[Edit, ...]:
    """``w = nn.Parameter(x)`` with a later ``w.to(device)``: the tensor is moved, and ``w`` is used as it is.

    Only where nothing decides between the two, and what the move says was there before.
    """
    tree, call, statement = move.point.tree, move.call, move.point.stmt
    name, said = ast.unparse(made), names_in(call) - names_in(made)
    function = tree.function(call)
    bindings = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and name in [ast.unparse(target) for target in node.targets]
    ]
    if len(bindings) != 1 or not _makes_parameter(bindings[0].value):
        return ()
    binding = bindings[0]
    together = tree.parents.get(binding) is tree.parents.get(statement) and binding.lineno < statement.lineno
    late = any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id in said
        and node.lineno > binding.lineno
        for node in ast.walk(function)
    )
    assert isinstance(binding.value, ast.Call)
    code = _parameter(tree, binding.value, trailer) if together and not late else None
    if code is None:
        return ()
    kept = ReplaceExpression(tree.path, tree.span(call), tree.source(made))
    return ReplaceExpression(tree.path, tree.span(binding.value), code), kept


def _makes_parameter(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Parameter"


def _leaf(tree: SourceTree, made: ast.Call, call: ast.Call, trailer: str) -> str:
    """``zeros(3, requires_grad=True).to(device)`` becomes ``zeros(3, requires_grad=True, device=device)``."""
    name = ast.unparse(made.func).split(".")[-1]
    arguments = [tree.source(argument) for argument in made.args]
    keywords = [keyword for keyword in made.keywords if keyword.arg != "requires_grad"]
    plain = (
        len(call.args) == 1 and not call.keywords and isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    )
    if plain and name not in _RANDOM:
        arguments += [_keyword(tree, keyword) for keyword in made.keywords]
        return f"{tree.source(made.func)}({', '.join([*arguments, f'device={tree.source(call.args[0])}'])})"
    arguments += [_keyword(tree, keyword) for keyword in keywords]
    return f"{tree.source(made.func)}({', '.join(arguments)}){trailer}.requires_grad_()"


def _keyword(tree: SourceTree, keyword: ast.keyword) -> str:
    value = tree.source(keyword.value)
    return f"{keyword.arg}={value}" if keyword.arg is not None else f"**{value}"


def _made_before(observations: Observations, move: LeafMove) -> tuple[Edit, ...]:
    """``w = torch.zeros(3, requires_grad=True)`` with a later ``w = w.to(device)``."""
    assert move.made is not None
    assert isinstance(move.made.node, ast.Call)
    assert isinstance(move.call.func, ast.Attribute)
    made, tree = move.made, move.point.tree
    name = ast.unparse(move.made.node.func).split(".")[-1]
    like = ast.unparse(move.call.args[0]) if len(move.call.args) == 1 and move.call.func.attr == "to" else None
    device = device_at(made, made.call_frame, observations.preferred_device, like=like) if like is not None else None
    if device is not None and name not in _RANDOM and device == like:
        return (AddKeyword(made.tree.path, made.tree.span(move.made.node), "device", device),)
    source = move.call.func.value
    return (
        AppendCode(tree.path, tree.span(source), ".detach()"),
        AppendCode(tree.path, tree.span(move.call), ".requires_grad_()"),
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(8, 4).to(device)
"""
_USE = (
    "optimizer = torch.optim.SGD([w], lr=0.1)\nfor _ in range(3):\n    (x * w).sum().backward()\n    optimizer.step()\n"
)

RULE = Rule(
    code="DEV402",
    name="leaf-moved",
    summary="A parameter is moved after it was made: the copy is not trained.",
    documentation=__doc__,
    detect=detect,
    invalid=(
        Example(
            "a tensor that is optimised",
            _SETUP + "w = torch.zeros(4, requires_grad=True).to(device)\n" + _USE,
            _SETUP + "w = torch.zeros(4, requires_grad=True, device=device)\n" + _USE,
        ),
        Example(
            "random values keep the stream of the CPU",
            _SETUP + "w = torch.randn(4, requires_grad=True).to(device)\n" + _USE,
            _SETUP + "w = torch.randn(4).to(device).requires_grad_()\n" + _USE,
        ),
    ),
    valid=(
        _SETUP + "w = torch.zeros(4, device=device, requires_grad=True)\n" + _USE,
        _SETUP + "w = nn.Parameter(torch.zeros(4).to(device))\n" + _USE,
        _SETUP + "w = torch.zeros(4, requires_grad=True)\n(x * w.to(device)).sum().backward()\nprint(w.grad)\n",
    ),
)
