"""## What it does
Checks for parameters, and tensors created with `requires_grad=True`, that are moved after their creation, if the copy
is then registered, passed to an optimizer, or read for its gradient. An attribute that no file of the program reads is
not reported: nothing depends on it but the state dict.

## Why is this bad?
`.to()` of a leaf tensor returns a non-leaf copy. On the CPU it returns the leaf tensor itself, so the program works
there. On the accelerator the copy is not registered with its module, its `.grad` stays `None`, and an optimizer rejects
it with *can't optimize a non-leaf Tensor*.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda")
scale = nn.Parameter(torch.ones(4)).to(device)
optimizer = torch.optim.SGD([scale], lr=0.1)
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda")
scale = nn.Parameter(torch.ones(4).to(device))
optimizer = torch.optim.SGD([scale], lr=0.1)
```

## Fix safety
Safe: the values do not change, and the tensor on the device is a leaf, as the program requires. No fix is proposed if
the class assigns something else to the same attribute elsewhere, which a registered parameter rejects.

## References
- [Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
- [Parameter](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.optimizers._leaf_moves import SUBSCRIPTIONS, LeafMove
from devfix.analysis import Observations
from devfix.fixes.event_path import event_path
from devfix.fixes.value_scope import device_for_move
from devfix.model import AddKeyword, AppendCode, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree, names_in, text_of, walk

__all__ = ["RULE"]

_CONSEQUENCES = {
    "attribute": "it is not registered as a parameter",
    "optimizer": "the optimizer rejects it",
    "grad": "its `.grad` stays `None`",
}
# Factory functions whose values depend on the random stream of the device.
_RANDOM = frozenset("rand randn randint randperm normal".split())


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per move of a leaf tensor whose copy is used as a leaf."""
    for move in observations.of(LeafMove):
        use = next((use for use in _CONSEQUENCES if use in move.uses and _needs_leaf(move, use)), None)
        if use is not None and not (use == "attribute" and _is_never_read(observations, move.uses[use].node)):
            yield _finding(observations, move, use)


def _is_never_read(observations: Observations, stored: ast.AST) -> bool:
    """Return whether no file of a program reads an attribute: a registered parameter would only add to its state."""
    if observations.is_library or not isinstance(stored, ast.Attribute):
        return False
    nodes = (node for tree in observations.trees for node in tree.nodes)
    return not any(
        (isinstance(node, ast.Attribute) and node.attr == stored.attr and isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Constant) and node.value == stored.attr)
        for node in nodes
    )


def _needs_leaf(move: LeafMove, use: str) -> bool:
    """Return whether a use fails with a copy: any tensor can be an attribute, and ``retain_grad()`` sets ``.grad``."""
    if use == "attribute":
        return move.kind == "parameter"
    return use != "grad" or "retained" not in move.uses


def _finding(observations: Observations, move: LeafMove, use: str) -> Finding:
    tree = move.point.tree
    is_registered = use == "attribute"
    described = "parameter" if move.kind == "parameter" else "tensor with requires_grad=True"
    copy = "a plain tensor" if is_registered else "not a leaf tensor"
    rebinding = _rebinding(tree, move.uses[use].node) if is_registered else None
    edits = _edits(observations, move) if rebinding is None else ()
    reason = (
        "the leaf tensor is created elsewhere: create it on the device there"
        if rebinding is None
        else f"line {rebinding.lineno} assigns something else to the attribute, which a registered parameter rejects"
    )
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if is_registered and _is_constant(move.call) else Severity.ERROR,
        tree.path,
        tree.span(move.call),
        f"a {described} is moved after its creation, and the copy is {copy}: {_CONSEQUENCES[use]}",
        event_path(
            (move.made, "created", "the leaf tensor is created here"),
            (move.point, "moved", f"this returns a copy on the accelerator, which is {copy}"),
            (move.uses[use], "used", _CONSEQUENCES[use]),
        ),
        (Fix("create the leaf tensor on the device", edits),) if edits else (),
        "" if edits else reason,
    )


def _is_constant(move: ast.Call) -> bool:
    """Return whether the parameter needs no gradient: training is right without it, but the state dict lacks it."""
    assert isinstance(move.func, ast.Attribute)
    created = move.func.value
    return isinstance(created, ast.Call) and any(
        keyword.arg == "requires_grad" and isinstance(keyword.value, ast.Constant) and not keyword.value.value
        for keyword in created.keywords
    )


def _rebinding(tree: SourceTree, stored: ast.AST) -> ast.Assign | None:
    """Return an assignment of something else to the attribute in its class: a registered parameter rejects it."""
    cls = next((node for node in tree.ancestors(stored) if isinstance(node, ast.ClassDef)), None)
    if cls is None:
        return None
    name = text_of(stored)
    for node in walk(cls):
        if isinstance(node, ast.Assign) and name in map(text_of, node.targets) and stored not in node.targets:
            is_none = isinstance(node.value, ast.Constant) and node.value.value is None
            if not is_none and not _contains_parameter(node.value):
                return node
    return None


def _contains_parameter(node: ast.expr) -> bool:
    return any(_makes_parameter(each) for each in walk(node) if isinstance(each, ast.expr))


def _edits(observations: Observations, move: LeafMove) -> tuple[Edit, ...]:
    tree, call = move.point.tree, move.call
    assert isinstance(call.func, ast.Attribute)
    creation = call.func.value
    suffix = tree.source(call)[len(tree.source(creation)) :]
    if isinstance(creation, ast.Call):
        if move.kind == "asked":
            return (ReplaceExpression(tree.path, tree.span(call), _moved_before_requires_grad(tree, creation, suffix)),)
        code = (
            _parameter_call(tree, creation, suffix)
            if move.kind == "parameter"
            else _leaf_call(tree, creation, call, suffix)
        )
        return (ReplaceExpression(tree.path, tree.span(call), code),) if code is not None else ()
    if move.kind == "parameter":
        return _named_parameter(move, creation, suffix)
    if move.kind == "leaf" and move.made is not None and isinstance(move.made.node, ast.Call):
        return _named_leaf(observations, move)
    return ()


def _parameter_call(tree: SourceTree, creation: ast.Call, suffix: str) -> str | None:
    """Rewrite ``nn.Parameter(x).to(device)`` to ``nn.Parameter(x.to(device))``."""
    if not creation.args:
        return None
    data = creation.args[0]
    inner = tree.source(data)
    if not isinstance(data, (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
        inner = f"({inner})"
    rest = [tree.source(other) for other in creation.args[1:]] + [
        _keyword_source(tree, keyword) for keyword in creation.keywords
    ]
    return f"{tree.source(creation.func)}({', '.join([inner + suffix, *rest])})"


def _moved_before_requires_grad(tree: SourceTree, creation: ast.Call, suffix: str) -> str:
    """Rewrite ``x.requires_grad_().to(device)`` to ``x.to(device).requires_grad_()``."""
    inner, method, arguments = tree.source(creation).rpartition(".requires_grad_")
    return f"{inner}{suffix}{method}{arguments}"


def _named_parameter(move: LeafMove, creation: ast.expr, suffix: str) -> tuple[Edit, ...]:
    """Rewrite ``w = nn.Parameter(x)`` and a later ``w.to(device)`` to ``w = nn.Parameter(x.to(device))`` and ``w``.

    Only if both statements are in the same block and the names in the move are bound before the first of them.
    """
    tree, call, statement = move.point.tree, move.call, move.point.stmt
    name, names = ast.unparse(creation), names_in(call) - names_in(creation)
    function = tree.function(call)
    bindings = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and name in [ast.unparse(target) for target in node.targets]
    ]
    if len(bindings) != 1 or not _makes_parameter(bindings[0].value):
        return ()
    binding = bindings[0]
    same_block = tree.parents.get(binding) is tree.parents.get(statement) and binding.lineno < statement.lineno
    bound_later = any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id in names
        and node.lineno > binding.lineno
        for node in ast.walk(function)
    )
    assert isinstance(binding.value, ast.Call)
    code = _parameter_call(tree, binding.value, suffix) if same_block and not bound_later else None
    if code is None:
        return ()
    unmoved = ReplaceExpression(tree.path, tree.span(call), tree.source(creation))
    return ReplaceExpression(tree.path, tree.span(binding.value), code), unmoved


def _makes_parameter(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Parameter"


def _leaf_call(tree: SourceTree, creation: ast.Call, call: ast.Call, suffix: str) -> str:
    """Rewrite ``zeros(3, requires_grad=True).to(device)`` to ``zeros(3, requires_grad=True, device=device)``."""
    name = ast.unparse(creation.func).split(".")[-1]
    arguments = [tree.source(argument) for argument in creation.args]
    keywords = [keyword for keyword in creation.keywords if keyword.arg != "requires_grad"]
    is_plain_to = (
        len(call.args) == 1 and not call.keywords and isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    )
    if is_plain_to and name not in _RANDOM:
        arguments += [_keyword_source(tree, keyword) for keyword in creation.keywords]
        return f"{tree.source(creation.func)}({', '.join([*arguments, f'device={tree.source(call.args[0])}'])})"
    arguments += [_keyword_source(tree, keyword) for keyword in keywords]
    return f"{tree.source(creation.func)}({', '.join(arguments)}){suffix}.requires_grad_()"


def _keyword_source(tree: SourceTree, keyword: ast.keyword) -> str:
    value = tree.source(keyword.value)
    return f"{keyword.arg}={value}" if keyword.arg is not None else f"**{value}"


def _named_leaf(observations: Observations, move: LeafMove) -> tuple[Edit, ...]:
    """Return the edits for ``w = torch.zeros(3, requires_grad=True)`` with a later ``w = w.to(device)``."""
    assert move.made is not None
    assert isinstance(move.made.node, ast.Call)
    assert isinstance(move.call.func, ast.Attribute)
    creation, tree = move.made, move.point.tree
    name = ast.unparse(move.made.node.func).split(".")[-1]
    argument = ast.unparse(move.call.args[0]) if len(move.call.args) == 1 and move.call.func.attr == "to" else None
    device = device_for_move(observations, creation, creation.call_frame, argument) if argument is not None else None
    if device is not None and name not in _RANDOM and device == argument:
        return (AddKeyword(creation.tree.path, creation.tree.span(move.made.node), "device", device),)
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
    summary="A parameter is moved after its creation, so the copy is not trained.",
    documentation=__doc__,
    detect=detect,
    error_families=(),  # no device error
    subscriptions=SUBSCRIPTIONS,
    invalid=(
        Example(
            "a tensor that is optimized",
            _SETUP + "w = torch.zeros(4, requires_grad=True).to(device)\n" + _USE,
            _SETUP + "w = torch.zeros(4, requires_grad=True, device=device)\n" + _USE,
        ),
        Example(
            "random values are still drawn on the CPU",
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
