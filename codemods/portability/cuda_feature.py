"""## What it does
Checks for code without an equivalent on other devices: extensions in CUDA, CUDA graphs, NVTX, and packages with kernels
for CUDA, such as `flash_attn`. Enabled only by `devfix port`, `--select DEV8` or `--select DEV817`.

## Why is this bad?
The import or the call fails without CUDA, and no other name can replace it.

## Example
```python
import torch
from flash_attn import flash_attn_func

print(flash_attn_func(*torch.rand(3, 1, 8, 2, 16)))
```

## Use instead
```python
import torch

q, k, v = torch.rand(3, 1, 8, 2, 16).transpose(2, 3)
print(torch.nn.functional.scaled_dot_product_attention(q, k, v))
```

## Fix safety
There is no automatic fix. The author chooses what replaces the feature. An import in a `try`, in a condition or in a
function is not reported, because the program can go on without it.

## References
- [torch.nn.functional.scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
- [torch.profiler](https://docs.pytorch.org/docs/stable/profiler.html)
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.portability._cuda_features import cuda_features
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Severity
from devfix.rules.rule import Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per import or call."""
    for tree in observations.trees[:1]:
        if foreign_part(tree.path):
            continue
        for node, name, reason in cuda_features(tree):
            yield Finding(
                RULE.code,
                RULE.name,
                Severity.ADVICE,
                tree.path,
                tree.span(node),
                f"`{name}` has no equivalent without CUDA",
                (tree.event("used", node, "used here"),),
                (),
                reason,
            )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import torch\n\n"

RULE = Rule(
    code="DEV817",
    name="cuda-feature",
    summary="Extensions, graphs and packages that exist for CUDA only.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    fixable=False,
    default=False,
    valid=(
        "import torch\ntry:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\nprint(torch.ones(1))\n",
        _SETUP + 'with torch.profiler.record_function("step"):\n    print(torch.ones(3).sum())\n',
        _SETUP + "if torch.cuda.is_available():\n    graph = torch.cuda.CUDAGraph()\n",
    ),
)
