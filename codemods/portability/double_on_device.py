"""## What it does
Checks for float64 values on a device that the program chooses, which may be MPS. Enabled only by `devfix port --to`
with `mps`, `--select DEV8` or `--select DEV822`.

## Why is this bad?
MPS has no float64: *Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64*.

## Example
```python
import numpy as np
import torch

device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")
weights = torch.from_numpy(np.linspace(0, 1, 8)).to(device)
print(weights.sum())
```

## Use instead
```python
import numpy as np
import torch

device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")
weights = torch.from_numpy(np.linspace(0, 1, 8)).float().to(device)
print(weights.sum())
```

## Fix safety
There is no automatic fix: in a lower precision, the program computes other numbers on every device. Code under a
condition on devices is not reported.

## References
- [MPS backend](https://docs.pytorch.org/docs/stable/notes/mps.html)
- [MPS has no float64](https://github.com/pytorch/pytorch/issues/122602)
- [tabfm#68](https://github.com/google-research/tabfm/pull/68)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._double_values import is_double, moved_value
from codemods.portability._guards import is_guarded
from codemods.portability._torch_names import named
from codemods.portability.double_before_cast import is_cast
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Severity
from devfix.rules.rule import Rule, command_attributes
from devfix.syntax.tree import SourceTree

__all__ = ["RULE"]

_REASON = "in a lower precision, the program would compute other numbers on every device"


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per value of a file that is certainly in float64, and placed on a device."""
    tree = observations.trees[0]
    if foreign_part(tree.path) or not any(word in tree.text for word in ("numpy", "float64", "double", "Double")):
        return
    for node in tree.nodes:
        if isinstance(node, ast.Call) and _is_placed_double(tree, node) and not is_guarded(tree, node):
            yield Finding(
                RULE.code,
                RULE.name,
                Severity.ADVICE,
                tree.path,
                tree.span(node),
                "a float64 value is placed on a device, and MPS has no float64",
                (tree.event("moved", node, "placed here"),),
                (),
                _REASON,
            )


def _is_placed_double(tree: SourceTree, call: ast.Call) -> bool:
    """Return whether a call moves a value in float64, or creates one on a device."""
    moved = moved_value(tree, call)
    if moved is not None:
        return not any(map(_is_cpu, call.args)) and is_double(tree, moved) and not is_cast(tree, call)
    device = next((each.value for each in call.keywords if each.arg == "device"), None)
    created = device is not None and not _is_cpu(device) and named(tree, call.func).startswith("torch.")
    return created and is_double(tree, call)


def _is_cpu(device: ast.expr) -> bool:
    return "cpu" in ast.unparse(device)


__getattr__, __dir__ = command_attributes(__name__)

_SETUP = "import numpy as np\nimport torch\n\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"

RULE = Rule(
    code="DEV822",
    name="double-on-device",
    summary="A float64 value on a device that the program chooses.",
    documentation=__doc__,
    detect=detect,
    error_families=(),
    default=False,
    invalid=(),
    valid=(
        _SETUP + "x = torch.from_numpy(np.random.rand(3)).float().to(device)\n",
        _SETUP + "x = torch.from_numpy(np.zeros(3, dtype=np.float32)).to(device)\n",
        _SETUP + "x = torch.zeros(3, dtype=torch.float64, device='cpu')\n",
        _SETUP + "x = torch.zeros(3, device=device).double().cpu() if device.type != 'mps' else None\n",
    ),
)
