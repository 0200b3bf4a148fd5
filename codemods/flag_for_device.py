"""## What it does
Finds `x.cuda(True)`: in PyTorch before 0.4 the first argument was `async`, today it is the device.

## Why is this bad?
It fails with *cuda(): argument 'device' (position 1) must be torch.device, not bool*, but only where there is an
accelerator.

## Example
```python
target = target.cuda(True)
```

## Use instead
```python
target = target.cuda(non_blocking=True)
```

## Fix safety
Safe: this is what the argument meant. A module's `.cuda()` takes no such flag: there it is left out.

## References
- [Tensor.cuda](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html)
- [pytorch/examples@83f1b5c](https://github.com/pytorch/examples/commit/83f1b5c)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods._rule import Example, Rule, command_attributes
from codemods._story import story
from devfix.flow import Facts
from devfix.model import Finding, Remedy, ReplaceExpression, Severity

__all__ = ["RULE"]


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding per call."""
    for flagged in facts.flagged.values():
        site, call = flagged.site, flagged.call
        tree = site.tree
        given = tree.source(call.args[0])
        code = f"{tree.source(call.func)}({'' if flagged.module else f'non_blocking={given}'})"
        title = "leave it out: modules take no flag" if flagged.module else "name the argument `non_blocking`"
        yield Finding(
            RULE.code,
            RULE.name,
            Severity.ERROR,
            tree.path,
            tree.span(call),
            f"`{given}` is given as the device of `{ast.unparse(call.func)}`",
            story((site, "moved", "the first argument is the device")),
            (Remedy(title, (ReplaceExpression(tree.path, tree.span(call), code),)),),
        )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import torch\n\nx = torch.ones(3)\nif torch.cuda.is_available():\n"

RULE = Rule(
    code="DEV105",
    name="flag-for-device",
    summary="`x.cuda(True)` gives a flag where the device is expected.",
    documentation=__doc__,
    detect=detect,
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
