"""## What it does
Checks for `.cuda`, `.cpu` and `.to` of a tensor or module without parentheses where a call was intended: as a
statement, in an assignment to the same name, or in a `return`.

## Why is this bad?
Without parentheses nothing is moved. The statement has no effect, and the assignment replaces the tensor with a bound
method.

## Example
```python
import torch
from torch import nn

model = nn.Linear(4, 2)
model.cuda
print(model(torch.rand(8, 4, device="cuda")))
```

## Use instead
```python
import torch
from torch import nn

model = nn.Linear(4, 2)
model.cuda()
print(model(torch.rand(8, 4, device="cuda")))
```

## Fix safety
Safe: a bound method that is neither called nor passed to a function has no other use.

## References
- [Module.cuda](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.cuda)
- [diegoalejogm/gans#3](https://github.com/diegoalejogm/gans/issues/3)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Interpreter, Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import ACCELERATOR, Builtin, DeviceValue, Tensor, Value
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import AttributeRead
from devfix.fixes.event_path import event_path
from devfix.fixes.value_scope import device_for_move
from devfix.model import AppendCode, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import text_of

__all__ = ["RULE"]

_TENSOR_ATTRIBUTES = frozenset(
    "device shape dtype grad data size dim view detach requires_grad_ numpy item float long half parameters "
    "state_dict eval train zero_grad".split()
)


@dataclass(frozen=True, eq=False)
class UncalledMove:
    """A move method without call parentheses: ``x.cuda``; ``latent`` says that the program does not call this code."""

    point: ProgramPoint
    node: ast.Attribute
    latent: bool


def _note_uncalled(interp: Interpreter, read: AttributeRead) -> Value | None:
    """Record ``model.cuda`` without call parentheses where a call is intended; return the value of the call.

    The move is then interpreted as a call, so only the missing call is reported.
    """
    node, base, value = read.node, read.base, read.value
    if node.attr not in ("cuda", "cpu", "to") or not isinstance(value, Builtin):
        return None
    moved = isinstance(base, Tensor) or module_at(interp, base) is not None
    assert interp.activation is not None
    if not moved or not _is_call_intended(interp.activation.module.tree.parents, node, text_of(node.value)):
        return None
    point = interp.point(node, with_state=True)
    interp.observations.record(UncalledMove(point, node, interp.latent), key=point.key)
    call = ast.copy_location(ast.Call(node, [], []), node)
    return interp.call(value, [DeviceValue(ACCELERATOR)] if node.attr == "to" else [], {}, call)


def _is_call_intended(parents: dict[ast.AST, ast.AST], node: ast.expr, receiver: str) -> bool:
    """Return whether a call is intended: the method itself makes no sense in this position.

    It is an expression statement, is returned, is assigned to the receiver's name, is the element of a comprehension
    over the receiver, or has an attribute read that no method has.
    """
    match parents.get(node):
        case ast.IfExp() as choice if node is not choice.test:
            return _is_call_intended(parents, choice, receiver)
        case ast.Assign(targets=[target]):
            return text_of(target) == receiver or receiver.endswith(")")  # no program stores the method of a new object
        case ast.Tuple() | ast.List() as items:
            return _same_item(parents.get(items), items, node, receiver)
        case ast.ListComp(elt=value) | ast.DictComp(value=value) as comprehension if value is node:
            return any(text_of(name) == receiver for part in comprehension.generators for name in _names(part.target))
        case ast.Attribute(attr=read):
            return read in _TENSOR_ATTRIBUTES
        case parent:
            return isinstance(parent, (ast.Expr, ast.Return))


def _same_item(parent: ast.AST | None, items: ast.Tuple | ast.List, node: ast.expr, receiver: str) -> bool:
    """Return whether an item is assigned to the target it is read from: ``x, y = x.cuda, y.cuda()``."""
    if not isinstance(parent, ast.Assign) or parent.value is not items or len(parent.targets) != 1:
        return False
    target, index = parent.targets[0], items.elts.index(node)
    if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != len(items.elts):
        return False
    return text_of(target.elts[index]) == receiver


def _names(target: ast.expr) -> Iterator[ast.expr]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name))


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per method that is not called."""
    for uncalled in observations.of(UncalledMove):
        tree, text = uncalled.point.tree, ast.unparse(uncalled.node)
        fixes = tuple(_fixes(observations, uncalled))
        yield Finding(
            RULE.code,
            RULE.name,
            Severity.LATENT if uncalled.latent else Severity.ERROR,
            tree.path,
            tree.span(uncalled.node),
            f"`{text}` is not called, so nothing is moved",
            event_path((uncalled.point, "moved", "the call parentheses are missing here")),
            fixes,
            "" if fixes else "no device expression is available here",
        )


def _fixes(observations: Observations, uncalled: UncalledMove) -> Iterator[Fix]:
    """Yield the call, and the move to the program's device if there is an expression for it."""
    tree, node = uncalled.point.tree, uncalled.node
    text, span = ast.unparse(node), tree.span(node)
    if node.attr != "to":
        yield Fix(f"add the call parentheses: `{text}()`", (AppendCode(tree.path, span, "()"),))
    device = device_for_move(observations, uncalled.point, uncalled.point.call_frame) if node.attr != "cpu" else None
    if device is not None:
        code = f"{tree.source(node.value)}.to({device})"
        yield Fix(f"replace it with `{code}`", (ReplaceExpression(tree.path, span, code),))


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

use_cuda = torch.cuda.is_available()
model = nn.Linear(4, 2)
"""
_USE = "x = torch.randn(3, 4)\nif use_cuda:\n    x = x.cuda()\nprint(model(x))\n"

RULE = Rule(
    code="DEV104",
    name="call-missing",
    summary="`.cuda`, `.cpu` or `.to` is not called, so nothing is moved.",
    documentation=__doc__,
    detect=detect,
    subscriptions=(Subscription(AttributeRead, _note_uncalled),),
    concerns="modules",
    invalid=(
        Example(
            "a model",
            _SETUP + "if use_cuda:\n    model.cuda\n" + _USE,
            _SETUP + "if use_cuda:\n    model.cuda()\n" + _USE,
        ),
    ),
    valid=(
        _SETUP + "if use_cuda:\n    model.cuda()\n" + _USE,
        _SETUP + "x = torch.randn(3, 4)\nmove = x.cuda if use_cuda else x.cpu\nprint(move())\n",
        _SETUP + "print(torch.cuda, list(map(torch.Tensor.cpu, [torch.ones(2)])))\n",
    ),
)
