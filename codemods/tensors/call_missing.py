"""## What it does
Checks for `.cuda`, `.cpu` and `.to` of a tensor or module without parentheses where a call was intended: as a
statement, in an assignment to the same name, or in a `return`.

## Why is this bad?
Without parentheses nothing is moved. The statement has no effect, and the assignment replaces the tensor with a bound
method.

## Example
```python
if args.cuda:
    model.cuda
```

## Use instead
```python
if args.cuda:
    model.cuda()
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

from devfix.analysis import Observations
from devfix.analysis.observations.moves import UncalledMove
from devfix.fixes.event_path import event_path
from devfix.fixes.value_scope import device_for_move
from devfix.model import AppendCode, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per method that is not called."""
    for uncalled in observations.uncalled_moves.values():
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
