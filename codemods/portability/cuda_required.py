"""## What it does
Checks for statements that end a program without CUDA: `assert torch.cuda.is_available()`, and
`if not torch.cuda.is_available():` with `raise` or `sys.exit()`. Enabled only by `devfix port`, `--select DEV8` or
`--select DEV815`.

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
There is no automatic fix. The author may have a reason, such as the time that a run would take. Delete the check when
`devfix port` lists nothing else.

## References
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.portability._cuda_features import refusals
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Severity
from devfix.rules.rule import Rule, command_attributes

__all__ = ["RULE"]

_REASON = "the program refuses to run without CUDA: delete the check when nothing else requires CUDA"


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per statement."""
    for tree in observations.trees[:1]:
        if foreign_part(tree.path):
            continue
        for stmt in refusals(tree):
            yield Finding(
                RULE.code,
                RULE.name,
                Severity.ADVICE,
                tree.path,
                tree.span(stmt),
                "without CUDA, the program ends here",
                (tree.event("used", stmt, "checked here"),),
                (),
                _REASON,
            )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import sys\nimport torch\n\n"

RULE = Rule(
    code="DEV815",
    name="cuda-required",
    summary="A check that ends the program without CUDA.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    fixable=False,
    default=False,
    valid=(
        _SETUP + 'if not torch.cuda.is_available():\n    print("this will take a while")\n',
        _SETUP + "def speed(x):\n    if not torch.cuda.is_available():\n        return None\n    return x.sum()\n",
    ),
)
