"""## What it does
Finds `.cuda`, `.cpu` and `.to` of a tensor or module without parentheses, where the author meant the call: as a
statement, assigned to the same name, or returned.

## Why is this bad?
Without parentheses nothing moves: a statement does nothing at all, and an assignment leaves a method where a tensor
was.

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
Safe: a method that is neither called nor passed on has no other use.

## References
- [Module.cuda](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.cuda)
- [diegoalejogm/gans#3](https://github.com/diegoalejogm/gans/issues/3)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.move_observations import Uncalled
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import device_at
from devfix.model import AppendCode, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per method that is not called."""
    for missing in observations.uncalled.values():
        tree, text = missing.point.tree, ast.unparse(missing.node)
        fixes = tuple(_fixes(observations, missing))
        yield Finding(
            RULE.code,
            RULE.name,
            Severity.LATENT if missing.latent else Severity.ERROR,
            tree.path,
            tree.span(missing.node),
            f"`{text}` is not called: nothing moves",
            event_path((missing.point, "moved", "the parentheses are missing here")),
            fixes,
            "" if fixes else "nothing names the device here",
        )


def _fixes(observations: Observations, missing: Uncalled) -> Iterator[Fix]:
    """The call; and where the program chooses its device, the move to that."""
    tree, node = missing.point.tree, missing.node
    text, span = ast.unparse(node), tree.span(node)
    if node.attr != "to":
        yield Fix(f"call it: `{text}()`", (AppendCode(tree.path, span, "()"),))
    device = (
        device_at(missing.point, missing.point.call_frame, observations.preferred_device)
        if node.attr != "cpu"
        else None
    )
    if device is not None:
        code = f"{tree.source(node.value)}.to({device})"
        yield Fix(f"move it: `{code}`", (ReplaceExpression(tree.path, span, code),))


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
    summary="`.cuda`, `.cpu` or `.to` stands without parentheses, so nothing moves.",
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
