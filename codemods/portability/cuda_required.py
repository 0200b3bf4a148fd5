"""## What it does
Checks for statements that end a program without CUDA: `assert torch.cuda.is_available()`, `assert x.is_cuda`, and
`if not torch.cuda.is_available():` or `if torch.cuda.device_count() == 0:` with `raise` or `sys.exit()`. Enabled only
by `devfix port`, `--select DEV8` or `--select DEV815`.

## Why is this bad?
The program refuses to run on other machines, although the rest of it may run there.

## Example
```python
import torch

assert torch.cuda.is_available(), "a GPU is required"
print(torch.ones(3))
```

## Use instead
```python
import torch

print(torch.ones(3))
```

## Fix safety
Safe: with CUDA, the check does nothing. Without it, the program runs, which may take long. The check stays under a
condition on devices, such as a device that is asked for by name, if the file catches what it raises, and if something
in the file has no equivalent without CUDA, such as graphs and streams. `assert x.is_cuda` stays where the function
calls anything but PyTorch and the methods of objects: it may be a kernel.

## References
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._guards import is_dropped
from codemods.portability._refusals import other_conditions, refusals
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Edit, Finding, Fix, ReplaceExpression, ReplaceStatement, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree

__all__ = ["RULE"]

_REASON = "other code relies on it, or has no equivalent without CUDA"


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per statement."""
    for tree in observations.trees[:1]:
        if foreign_part(tree.path):
            continue
        for stmt in refusals(tree):
            fixes = (_dropped(tree, stmt),) if is_dropped(tree, stmt) else ()
            yield Finding(
                RULE.code,
                RULE.name,
                Severity.ADVICE,
                tree.path,
                tree.span(stmt),
                "without CUDA, the program ends here",
                (tree.event("used", stmt, "checked here"),),
                fixes,
                "" if fixes else _REASON,
            )


def _dropped(tree: SourceTree, stmt: ast.stmt) -> Fix:
    edit: Edit = ReplaceStatement(tree.path, tree.span(stmt), ())
    if isinstance(stmt, ast.Assert):
        others = other_conditions(stmt.test)
        if others and others != [stmt.test]:
            edit = ReplaceExpression(tree.path, tree.span(stmt.test), " and ".join(map(tree.source, others)))
    return Fix("let the program run without CUDA", (edit,))


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import sys\nimport torch\n\n"

RULE = Rule(
    code="DEV815",
    name="cuda-required",
    summary="A check that ends the program without CUDA.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    default=False,
    invalid=(
        Example(
            "an assertion",
            _SETUP + 'assert torch.cuda.is_available(), "a GPU is required"\nprint(torch.ones(3))\n',
            _SETUP + "print(torch.ones(3))\n",
        ),
        Example(
            "a message and an exit",
            _SETUP
            + "def main():\n    if not torch.cuda.is_available():\n        print('no GPU')\n        sys.exit(1)\n"
            "    print(torch.ones(3))\n\n\nmain()\n",
            _SETUP + "def main():\n    print(torch.ones(3))\n\n\nmain()\n",
        ),
    ),
    valid=(
        _SETUP + 'if not torch.cuda.is_available():\n    print("this will take a while")\n',
        _SETUP + "def speed(x):\n    if not torch.cuda.is_available():\n        return None\n    return x.sum()\n",
    ),
)
