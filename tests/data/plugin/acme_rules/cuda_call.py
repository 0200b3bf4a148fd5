"""## What it does
Finds `x.cuda()`, which names one vendor.

## Why is this bad?
Our machines have accelerators of several vendors.

## Example
```python
x = x.cuda()
```

## Use instead
```python
x = x.to("cuda")
```

## Fix safety
Safe: it is the same place.

## References
- [Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.rules import ACCELERATOR, Example, Finding, Fix, Observations, ReplaceExpression, Rule, Severity


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding for each call without arguments."""
    for call, device_assignments in observations.device_assignments.items():
        if (
            ACCELERATOR not in device_assignments
            or not isinstance(call.func, ast.Attribute)
            or call.func.attr != "cuda"
        ):
            continue
        if call.args or call.keywords:
            continue
        site = device_assignments[ACCELERATOR].point
        tree, span = site.tree, site.tree.span(call)
        edit = ReplaceExpression(tree.path, span, f'{tree.source(call.func.value)}.to("cuda")')
        yield Finding(
            RULE.code,
            RULE.name,
            Severity.ERROR,
            tree.path,
            span,
            f"`{tree.source(call)}` names one vendor",
            (site.event("moved", "it is moved here"),),
            (Fix('say `.to("cuda")`', (edit,)),),
        )


RULE = Rule(
    code="ACME101",
    name="cuda-call",
    summary="`x.cuda()` names one vendor.",
    documentation=__doc__,
    detect=detect,
    invalid=(
        Example(
            "a tensor",
            "import torch\n\nx = torch.ones(3)\nx = x.cuda()  # there\n",
            'import torch\n\nx = torch.ones(3)\nx = x.to("cuda")  # there\n',
        ),
    ),
    valid=('import torch\n\nx = torch.ones(3).to("cuda")\n',),
)
