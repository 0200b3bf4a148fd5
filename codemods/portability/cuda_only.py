"""## What it does
Checks for hard-coded CUDA devices in programs that do not choose their device: `.cuda()`, `.to("cuda")`,
`device="cuda"` and `device = torch.device("cuda")`. Enabled only by `devfix port`, `--select DEV8` or
`--select DEV811`.

## Why is this bad?
The program is correct with CUDA, but on every other machine it fails: *Torch not compiled with CUDA enabled*.

## Example
```python
import torch
from torch import nn

model = nn.Linear(4, 2).cuda()
print(model(torch.rand(8, 4).cuda()))
```

## Use instead
```python
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

model = nn.Linear(4, 2).to(device)
print(model(torch.rand(8, 4).to(device)))
```

## Fix safety
Safe: with CUDA, `torch.device("cuda")` is the current device, as for `.cuda()`. All places of a program change
together. A device that the file already names is kept, and falls back to the CPU. A file without a place for the
declaration is not edited: the query must not precede a setting of `CUDA_VISIBLE_DEVICES`, nor a fork. A place that
names an accelerator by its index, or a typed constructor such as `torch.cuda.FloatTensor`, is reported and not edited.
A program that chooses its device is left to DEV501.

## References
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
- [sjmoran/deeplpf-image-enhancement#26](https://github.com/sjmoran/deeplpf-image-enhancement/pull/26)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._cuda_places import CudaPlace, cuda_places
from codemods.portability._port_edits import port_edits
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per place of a file that requires CUDA; all places share one fix."""
    if foreign_part(observations.trees[0].path):
        return
    places = cuda_places(observations)
    ported = port_edits(observations, [place for place in places if not place.reason])
    fix = Fix("let the program choose its device", ported.edits)
    for place in places:
        is_fixed = place in ported.places
        yield _finding(place, (fix,) if is_fixed else (), "" if is_fixed else place.reason or ported.reason)


def _finding(place: CudaPlace, fixes: tuple[Fix, ...], reason: str) -> Finding:
    text = ast.unparse(place.node)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ADVICE,
        place.tree.path,
        place.tree.span(place.node),
        f"`{text if len(text) <= 40 else '…' + text[-39:]}` requires CUDA",
        (place.tree.event("moved", place.node, "placed on CUDA here"),),
        fixes,
        reason,
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import torch\nfrom torch import nn\n"
_DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'

RULE = Rule(
    code="DEV811",
    name="cuda-only",
    summary="A hard-coded CUDA device in a program that does not choose its device.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    default=False,
    invalid=(
        Example(
            "a script that always calls .cuda()",
            _SETUP + "\nmodel = nn.Linear(4, 2).cuda()\nprint(model(torch.ones(3, 4).cuda(non_blocking=True)))\n",
            _SETUP
            + _DEVICE
            + "\nmodel = nn.Linear(4, 2).to(device)\nprint(model(torch.ones(3, 4).to(device, non_blocking=True)))\n",
        ),
        Example(
            "literals",
            _SETUP + '\nmodel = nn.Linear(4, 2).to("cuda")\nprint(model(torch.ones(3, 4, device="cuda")))\n',
            _SETUP + _DEVICE + "\nmodel = nn.Linear(4, 2).to(device)\nprint(model(torch.ones(3, 4, device=device)))\n",
        ),
        Example(
            "a device that has a name",
            _SETUP + '\ndevice = torch.device("cuda")\nmodel = nn.Linear(4, 2).to(device)\n',
            _SETUP + "\n" + _DEVICE + "model = nn.Linear(4, 2).to(device)\n",
        ),
    ),
    valid=(
        _SETUP + _DEVICE + "model = nn.Linear(4, 2).to(device)\nprint(model(torch.ones(3, 4).to(device)))\n",
        _SETUP + "model = nn.Linear(4, 2)\nif torch.cuda.is_available():\n    model.cuda()\n",
        _SETUP + "model = nn.Linear(4, 2)\nprint(model(torch.ones(3, 4, device=model.weight.device)))\n",
        _SETUP + 'model = nn.Linear(4, 2).to("cpu")\nprint(model(torch.ones(3, 4)))\n',
    ),
)
