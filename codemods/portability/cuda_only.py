"""## What it does
Checks for hard-coded CUDA devices, in programs and in libraries: `.cuda()`, `.to("cuda")`, `device="cuda"`,
`torch.device("cuda")`, and typed constructors such as `torch.cuda.FloatTensor`. Enabled only by `devfix port`,
`--select DEV8` or `--select DEV811`.

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
Safe: with CUDA, `torch.device("cuda")` is the current device, as for `.cuda()`, and every value has the same dtype and
device as before. All places of a file change together. A device that the file already names is kept, and falls back to
the CPU. A program declares its device once, after its imports and after settings of `CUDA_VISIBLE_DEVICES`. A module,
and a program that selects devices or forks in functions, declares it directly before the first use, so that CUDA is not
initialized earlier than before; nothing asks for CUDA when a module of such a program is imported. `.cuda(index)` is
called with CUDA only, and indices in text are kept with CUDA.

Memory is pinned with CUDA only: `x.pin_memory() if torch.cuda.is_available() else x`. Checkpoints of such a file were
saved on CUDA: without it, they are loaded to the CPU, `map_location=None if torch.cuda.is_available() else "cpu"`.
`device_ids` and `output_device` of `DistributedDataParallel` are `None` without CUDA, and modules keep their batch
normalization there instead of `SyncBatchNorm`. `torch.nn.parallel.data_parallel(model, x)` fails without an
accelerator, where it becomes `model(x)`. `DataParallel` moves its inputs, but not to MPS: with MPS in
`devfix port --to`, they are moved.

Code under a condition on devices stays, unless it runs if no option is given, as with `if args.ngpu > 0`, where that is
the default, or unless the program itself turns the flag on, as with `config = {"gpu": True}`. What a query for CUDA may
decide, in any file, is a condition. A comparison with `None`, as in `if args.gpu is not None`, is none, and neither is
what holds without CUDA: `if not x.is_cuda`. An index that is a device, as in `model.to(local_rank)`, is `"cpu"` without
CUDA. A device from a YAML, JSON or INI file under the checked folders, such as `device: cuda`, is read with a choice:
`config["device"] if torch.cuda.is_available() else "cpu"`; and `use_gpu: true` there turns a flag on. A module of
settings, `DEVICE = "cuda"`, chooses itself; if the program sets `CUDA_VISIBLE_DEVICES` elsewhere, the choice is where
the setting is read; if it says `config.device = "cpu"` where CUDA is not available, the setting stays. A function whose
parameter has the default `"cuda"` replaces it without CUDA. A file that does not import `torch` imports it. Listed and
not edited: an index of a long expression, the default of a parameter of a lambda, a device that is named before
`CUDA_VISIBLE_DEVICES` is set or a process forks, code that TorchScript compiles, and, with other accelerators than
CUDA, a constructor such as `torch.cuda.FloatTensor` that is stored and gets values that may be tensors, and an object
of a class that may define `cuda` itself.

With other accelerators in `devfix port --to`, such as `mps`, a condition on CUDA becomes one on any accelerator, and
the code under it follows the device: `if use_cuda: x = x.cuda()` after `use_cuda = torch.cuda.is_available()`,
`"cuda" if torch.cuda.is_available() else "cpu"`, and `if x.is_cuda: y = y.cuda()`, whose `y` goes where `x` is. The
condition is listed and stays if the code under it requires CUDA, if the flag is passed on, if other files may read it,
or if another condition of the file stays.

## References
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
- [sjmoran/deeplpf-image-enhancement#26](https://github.com/sjmoran/deeplpf-image-enhancement/pull/26)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._port_edits import port_edits
from codemods.portability._torch_names import named
from codemods.portability.places.cuda_place import CudaPlace, Kind
from codemods.portability.places.ported_places import ported_places
from codemods.portability.places.settings_reads import reads_cuda_setting
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.device_literals import is_cuda_literal

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per place of a file that requires CUDA; all places share one fix."""
    if foreign_part(observations.trees[0].path):
        return
    places = ported_places(observations)
    ported = port_edits(observations, [place for place in places if not place.reason])
    fix = Fix("let the program choose its device", ported.edits)
    for place in places:
        is_fixed = place in ported.places
        yield _finding(place, (fix,) if is_fixed else (), "" if is_fixed else place.reason or ported.reason)


def _finding(place: CudaPlace, fixes: tuple[Fix, ...], reason: str) -> Finding:
    outer, is_setting = place.tree.parents[place.node], reads_cuda_setting(place.tree, place.node)
    is_argument = not is_setting and isinstance(outer, ast.Call) and named(place.tree, outer.func) == "torch.device"
    shown = outer if is_argument and isinstance(outer, ast.expr) else place.node
    name = ast.unparse(shown) if is_setting else _name(shown)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ADVICE,
        place.tree.path,
        place.tree.span(shown),
        f"`{name}` {'leaves out other accelerators' if _asks(place) else 'requires CUDA'}",
        (place.tree.event("moved", shown, "CUDA is named here"),),
        fixes,
        reason,
    )


def _asks(place: CudaPlace) -> bool:
    """Return whether a place is a question for CUDA, or a choice that depends on one."""
    return place.kind == Kind.QUERY or isinstance(place.node, ast.IfExp)


def _name(node: ast.expr) -> str:
    """Return what names CUDA, without the rest of the expression, which other edits may change."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("cuda", "type"):
        return f".{node.func.attr}({', '.join(map(ast.unparse, node.args))})"
    if isinstance(node, ast.Call) and not any(map(is_cuda_literal, node.args)):
        return ast.unparse(node.func)
    return ast.unparse(node)


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import torch\nfrom torch import nn\n"
_DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'

RULE = Rule(
    code="DEV811",
    name="cuda-only",
    summary="A hard-coded CUDA device.",
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
