"""## What it does
Checks for calls of `torch.cuda` that fail on machines without CUDA, such as `torch.cuda.synchronize()`,
`set_device()`, `reset_peak_memory_stats()` and `get_device_name()`, where no condition on the device precedes them.
Deprecated names such as `memory_cached()` are replaced, too, and a number of devices that the program multiplies or
divides by is at least 1. Enabled only by `devfix port`, `--select DEV8` or
`--select DEV812`.

## Why is this bad?
Without CUDA, the call ends the program: *Torch not compiled with CUDA enabled*. Other functions of the module do no
harm there: `empty_cache()` and `manual_seed_all()` do nothing, and `device_count()` and `memory_allocated()` return 0.
But a batch size of `8 * torch.cuda.device_count()` is then 0, and `8 // torch.cuda.device_count()` fails.

## Example
```python
import torch

torch.cuda.synchronize()
print(torch.cuda.get_device_name(0))
```

## Use instead
```python
import torch

if torch.cuda.is_available():
    torch.cuda.synchronize()
print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu")
```

## Fix safety
Safe: with CUDA, the same calls run. `torch.cuda.current_device()` that is only used as a device is `"cpu"` without
CUDA, and `with torch.cuda.device(index):` does nothing there. Another call whose value the program uses, and the
construction of a stream or an event, are reported and not edited. `if torch.cuda.is_available:` tests the function,
which is always true; it becomes a call. With other accelerators in `devfix port --to`, and if
the project requires PyTorch 2.6, `synchronize` and `set_device` become their namesakes in `torch.accelerator`. The
table of namesakes is made from PyTorch's releases: `torch.accelerator` has no `get_device_name` and no
`manual_seed_all`, and `torch.accelerator.empty_cache()` fails without an accelerator, where `torch.cuda.empty_cache()`
does nothing.

## References
- [torch.cuda](https://docs.pytorch.org/docs/stable/cuda.html)
- [torch.accelerator](https://docs.pytorch.org/docs/stable/accelerator.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.portability._accelerator_counts import calculated_counts
from codemods.portability._cuda_calls import CudaCall, cuda_calls, uncalled_queries
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import SourceTree

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per call; consecutive calls share a fix."""
    for tree in observations.trees[:1]:
        if not foreign_part(tree.path):
            yield from (_finding(call) for call in cuda_calls(tree, observations.targets))
            yield from (_uncalled(tree, node, fix) for node, fix in uncalled_queries(tree))
            yield from (_counted(tree, node, fix) for node, fix in calculated_counts(tree))


def _uncalled(tree: SourceTree, node: ast.expr, fix: Fix) -> Finding:
    event = tree.event("used", tree.statement(node), "tested here")
    message = "the function is tested, not its answer, so CUDA is used where it is not available"
    return Finding(RULE.code, RULE.name, Severity.ADVICE, tree.path, tree.span(node), message, (event,), (fix,), "")


def _counted(tree: SourceTree, node: ast.expr, fix: Fix) -> Finding:
    event = tree.event("used", tree.statement(node), "counted here")
    message = "the number of accelerators is 0 without CUDA, and the program calculates with it"
    return Finding(RULE.code, RULE.name, Severity.ADVICE, tree.path, tree.span(node), message, (event,), (fix,), "")


def _finding(call: CudaCall) -> Finding:
    name = call.function.name
    replaced = call.function.deprecated
    message = f"`{name}` requires CUDA" if call.function.requires_cuda else f"`{name}` is deprecated: use `{replaced}`"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ADVICE,
        call.tree.path,
        call.tree.span(call.node),
        message,
        (call.tree.event("used", call.node, "called here"),),
        (call.fix,) if call.fix else (),
        call.reason,
    )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import time\nimport torch\n\n"

RULE = Rule(
    code="DEV812",
    name="cuda-function",
    summary="A call of torch.cuda that fails without CUDA.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    default=False,
    invalid=(
        Example(
            "statements",
            _SETUP + "torch.cuda.synchronize()\ntorch.cuda.reset_peak_memory_stats()\nstart = time.time()\n",
            _SETUP + "if torch.cuda.is_available():\n    torch.cuda.synchronize()\n"
            "    torch.cuda.reset_peak_memory_stats()\nstart = time.time()\n",
        ),
        Example(
            "a value that is printed",
            _SETUP + "print(torch.cuda.get_device_name(0), torch.ones(3).sum())\n",
            _SETUP + 'print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu",'
            " torch.ones(3).sum())\n",
        ),
        Example(
            "a number of devices",
            _SETUP + "batch_size = 8 * torch.cuda.device_count()\nprint(torch.ones(batch_size).sum())\n",
            _SETUP + "batch_size = 8 * max(torch.cuda.device_count(), 1)\nprint(torch.ones(batch_size).sum())\n",
        ),
        Example(
            "a deprecated name",
            _SETUP + "print(torch.cuda.max_memory_cached() / 1e9, torch.ones(3).sum())\n",
            _SETUP + "print(torch.cuda.max_memory_reserved() / 1e9, torch.ones(3).sum())\n",
        ),
    ),
    valid=(
        _SETUP + "torch.cuda.empty_cache()\ntorch.cuda.manual_seed_all(0)\nprint(torch.cuda.device_count())\n",
        _SETUP + "if torch.cuda.is_available():\n    torch.cuda.synchronize()\n",
        _SETUP + "count = torch.cuda.device_count()\nprint(torch.ones(8 * count if count else 8).sum())\n",
        _SETUP + "def wait(device):\n    if device.type != 'cuda':\n        return\n    torch.cuda.synchronize()\n",
    ),
)
