"""## What it does
Checks for `autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` of `torch.cuda.amp`, which name CUDA by their module.
Enabled only by `devfix port`, `--select DEV8` or `--select DEV813`.

## Why is this bad?
The names have been deprecated since PyTorch 2.4, and warn: *`torch.cuda.amp.autocast(args...)` is deprecated. Please
use `torch.amp.autocast('cuda', args...)` instead.* They cannot follow the device of the program.

## Example
```python
import torch
from torch.cuda.amp import GradScaler, autocast

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scaler = GradScaler()
model = torch.nn.Linear(4, 2).to(device)
with autocast():
    print(model(torch.rand(8, 4, device=device)))
```

## Use instead
```python
import torch
from torch.amp import GradScaler, autocast

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scaler = GradScaler(device.type, enabled=device.type == "cuda")
model = torch.nn.Linear(4, 2).to(device)
with autocast(device.type, enabled=device.type == "cuda"):
    print(model(torch.rand(8, 4, device=device)))
```

## Fix safety
Safe: with CUDA, type and scale are the same as before. Without CUDA, mixed precision stays off, as `torch.cuda.amp`
turns itself off there: autocast for the CPU would compute in bfloat16. A file that does not choose a device gets
`torch.amp.autocast("cuda")`, which also turns itself off. In a file that names `bfloat16`, the type of `autocast()` is
written out, because inside another autocast the new class takes the type of the outer one.

Nothing is edited if the project requires a release of PyTorch without the new name (`GradScaler` 2.3, `custom_fwd` and
`custom_bwd` 2.4), in an `__init__.py` that imports the names, or if a class or function is passed on. The import and
all uses of its names change together.

## References
- [torch.amp](https://docs.pytorch.org/docs/stable/amp.html)
- [Automatic mixed precision recipe](https://docs.pytorch.org/tutorials/recipes/recipes/amp_recipe.html)
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.portability._mixed_precision import amp_uses
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per use; the uses of an imported name share a fix."""
    for tree in observations.trees[:1]:
        if foreign_part(tree.path):
            continue
        for use, edits in amp_uses(tree, observations.targets):
            yield Finding(
                RULE.code,
                RULE.name,
                Severity.ADVICE,
                tree.path,
                tree.span(use.node),
                f"`torch.cuda.amp.{use.name}` is deprecated, and names CUDA",
                (tree.event("used", use.node, "used here"),),
                (Fix("take mixed precision from `torch.amp`", edits),) if edits else (),
                use.reason,
            )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import torch\nfrom torch import nn\n"
_DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
_TRAIN = "model = nn.Linear(4, 2).to(device)\nx = torch.rand(3, 4, device=device)\n"

RULE = Rule(
    code="DEV813",
    name="cuda-mixed-precision",
    summary="Mixed precision by torch.cuda.amp, which is deprecated and names CUDA.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    default=False,
    invalid=(
        Example(
            "a program that chooses its device",
            _SETUP
            + _DEVICE
            + _TRAIN
            + "scaler = torch.cuda.amp.GradScaler()\nwith torch.cuda.amp.autocast(dtype=torch.half):\n    model(x)\n",
            _SETUP
            + _DEVICE
            + _TRAIN
            + 'scaler = torch.amp.GradScaler(device.type, enabled=device.type == "cuda")\n'
            + 'with torch.amp.autocast(device.type, dtype=torch.half, enabled=device.type == "cuda"):\n    model(x)\n',
        ),
        Example(
            "an imported decorator",
            _SETUP + "from torch.cuda.amp import autocast\n\n@autocast()\ndef step(model, x):\n    return model(x)\n",
            _SETUP + 'from torch.amp import autocast\n\n@autocast("cuda")\ndef step(model, x):\n    return model(x)\n',
        ),
    ),
    valid=(
        _SETUP + _DEVICE + _TRAIN + "with torch.autocast(device.type):\n    model(x)\n",
        _SETUP + "scaler = torch.amp.GradScaler('cuda')\nprint(scaler.get_scale(), nn.Linear(1, 1))\n",
    ),
)
