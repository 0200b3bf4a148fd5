"""## What it does
Checks for `x.cuda(True)`. Before PyTorch 0.4 the first argument of `cuda()` was `async`; today it is the device.

## Why is this bad?
The call fails with *cuda(): argument 'device' (position 1) must be torch.device, not bool*, but only on a machine with
an accelerator.

## Example
```python
import torch

target = torch.rand(8)
target = target.cuda(True)
```

## Use instead
```python
import torch

target = torch.rand(8)
target = target.cuda(non_blocking=True)
```

## Fix safety
Safe: `non_blocking` is the new name of the flag. `Module.cuda()` has no such argument, so the flag is removed there.

## References
- [Tensor.cuda](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html)
- [pytorch/examples@83f1b5c](https://github.com/pytorch/examples/commit/83f1b5c)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Interpreter, Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import Const, Tensor, Value, alternatives
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import MethodCalled
from devfix.fixes.event_path import event_path
from devfix.model import Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree

__all__ = ["RULE"]


@dataclass(frozen=True, eq=False)
class BooleanDevice:
    """A boolean in place of the device: ``x.cuda(True)``; ``is_module`` says whether ``x`` is a module."""

    point: ProgramPoint
    call: ast.Call
    is_module: bool


def _note_flag(interp: Interpreter, called: MethodCalled) -> None:
    """Record a boolean as the first argument of ``cuda`` of a tensor or module."""
    if called.name != "cuda" or not called.args:
        return
    is_module = _is_module(interp, called.receiver)
    is_flag = all(isinstance(value, Const) and isinstance(value.value, bool) for value in alternatives(called.args[0]))
    if is_flag and (is_module or isinstance(called.receiver, Tensor)):
        point = interp.point(called.node, with_state=True)
        interp.observations.record(BooleanDevice(point, called.node, is_module), key=point.key)


def _is_module(interp: Interpreter, value: Value) -> bool:
    return module_at(interp, value) is not None


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per call."""
    for flagged in observations.of(BooleanDevice):
        point, call = flagged.point, flagged.call
        tree = point.tree
        flag, edit = tree.source(call.args[0]), _without_flag(tree, call, flagged.is_module)
        title = (
            "remove the flag, which `Module.cuda()` does not take"
            if flagged.is_module
            else "pass the flag as `non_blocking`"
        )
        yield Finding(
            RULE.code,
            RULE.name,
            Severity.ERROR,
            tree.path,
            tree.span(call),
            f"`{flag}` is passed as the device of `{ast.unparse(call.func)}`",
            event_path((point, "moved", "the first argument is the device")),
            (Fix(title, (edit,)),) if edit is not None else (),
            "" if edit is not None else "the call has other arguments that may already set `non_blocking`",
        )


def _without_flag(tree: SourceTree, call: ast.Call, is_module: bool) -> Edit | None:
    """Return an edit that names or, for a module, removes the flag; ``None`` if there may be a second flag."""
    if len(call.args) > 1 or any(keyword.arg in ("non_blocking", None) for keyword in call.keywords):
        return None
    flag = [] if is_module else [f"non_blocking={tree.source(call.args[0])}"]
    others = [f"{keyword.arg}={tree.source(keyword.value)}" for keyword in call.keywords]
    return ReplaceExpression(tree.path, tree.span(call), f"{tree.source(call.func)}({', '.join([*flag, *others])})")


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import torch\n\nx = torch.ones(3)\nif torch.cuda.is_available():\n"

RULE = Rule(
    code="DEV105",
    name="flag-for-device",
    summary="`x.cuda(True)` passes a flag as the device.",
    documentation=__doc__,
    detect=detect,
    subscriptions=(Subscription(MethodCalled, _note_flag),),
    invalid=(
        Example("the old flag", _SETUP + "    x = x.cuda(True)\n", _SETUP + "    x = x.cuda(non_blocking=True)\n"),
        Example(
            "a module takes no flag",
            "import torch\n\nmodel = torch.nn.Linear(3, 2)\nif torch.cuda.is_available():\n    model.cuda(True)\n",
            "import torch\n\nmodel = torch.nn.Linear(3, 2)\nif torch.cuda.is_available():\n    model.cuda()\n",
        ),
    ),
    valid=(
        _SETUP + "    x = x.cuda(non_blocking=True)\n",
        _SETUP + "    x = x.cuda(0)\n",
        _SETUP + "    x = x.cuda(None, True)\n",
    ),
)
