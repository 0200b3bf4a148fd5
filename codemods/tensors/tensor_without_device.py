"""## What it does
Checks for tensors that are created on the CPU (`torch.zeros`, `torch.arange`, `torch.tensor`, `torch.randn`,
`torch.from_numpy` …) and used with tensors on the accelerator: masks, positions, hidden states, noise, targets of a
loss, running sums. Tensors are followed through methods, functions and lists.

## Why is this bad?
Factory functions create tensors on the CPU unless a device is given. The first operation that combines such a tensor
with a tensor on the accelerator fails with *Expected all tensors to be on the same device*.

## Example
```python
import torch


def with_positions(x):
    return x + torch.arange(x.size(1))


print(with_positions(torch.rand(2, 4, device="cuda")))
```

## Use instead
```python
import torch


def with_positions(x):
    return x + torch.arange(x.size(1), device=x.device)


print(with_positions(torch.rand(2, 4, device="cuda")))
```

## Fix safety
Safe. The device is one that the function already uses, or that of a tensor in the same operation. Random tensors are
still drawn on the CPU and then moved: with `device=` the values would differ, and so would the training.
`torch.from_numpy` and `torch.FloatTensor` take no `device`, so their result is also moved. A helper function without a
device is not changed: its result is moved at the call. Where an index on the accelerator selects from a tensor that
must stay with others on the CPU, the index is moved: `pairs[best.cpu()]`. CPU scalars in arithmetic, and CPU indices of
accelerator tensors, are allowed and not reported.

## References
- [Creation of tensors](https://docs.pytorch.org/docs/stable/torch.html#creation-ops)
- [CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html)
- [Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html)
- [ostris/ai-toolkit#212](https://github.com/ostris/ai-toolkit/issues/212)
- [ndrplz/ConvLSTM_pytorch#10](https://github.com/ndrplz/ConvLSTM_pytorch/pull/10)
"""

from __future__ import annotations

from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.fixes.event_path import event_path
from devfix.fixes.tensors.factory_fixes import TensorCreation, creation_fixes, misplaced_creations
from devfix.model import Finding, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per group of tensors that reach the same operation; most groups have one tensor."""
    for group in misplaced_creations(observations):
        yield _finding(observations, group)


def _finding(observations: Observations, group: list[TensorCreation]) -> Finding:
    first = group[0]
    mismatches = list(dict.fromkeys(mismatch for made in group for mismatch, _ in made.uses))
    names = list(dict.fromkeys(f"`{made.text}`" for made in group))
    verb = "are" if len(names) > 1 else "is"
    found = tuple(creation_fixes(observations, group))
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if all(mismatch.latent for mismatch in mismatches) else Severity.ERROR,
        first.factory.tree.path,
        first.factory.tree.span(first.factory.call),
        f"{', '.join(names)} {verb} created on the CPU, but {verb} used with tensors on the accelerator",
        event_path(
            *((made.point, "created", f"`{made.text}` is created on the CPU here") for made in group),
            *((mismatch.point, "used", "used with tensors on the accelerator here") for mismatch in mismatches[:2]),
        ),
        found,
        "" if found else _reason(group),
    )


def _reason(group: list[TensorCreation]) -> str:
    if any(made.factory.takes_its_result for made in group):
        return "the next round of the loop creates a tensor from this one, which must be on the CPU for that"
    return "no device expression is available where the tensor is created or used"


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = torch.ones(3, 4, device=device)
"""

_FORWARD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x) + {}


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
print(model(torch.ones(3, 4, device=device)))
"""

RULE = Rule(
    code="DEV102",
    name="tensor-without-device",
    summary="A tensor is created on the CPU, but is used with tensors on the accelerator.",
    documentation=__doc__,
    detect=detect,
    causes=("created-without-device",),
    concerns="values",
    invalid=(
        Example(
            "inside a module, from the input",
            _FORWARD.format("torch.arange(2)"),
            _FORWARD.format("torch.arange(2, device=x.device)"),
        ),
        Example(
            "random numbers are still drawn on the CPU, and moved",
            _SETUP + "noise = torch.randn(3, 4)\nprint(model(x + noise))\n",
            _SETUP + "noise = torch.randn(3, 4).to(device)\nprint(model(x + noise))\n",
        ),
        Example(
            "a sum that is accumulated in place",
            _SETUP + "total = torch.tensor(0.0)\ntotal += model(x).sum()\n",
            _SETUP + "total = torch.tensor(0.0, device=device)\ntotal += model(x).sum()\n",
        ),
    ),
    valid=(
        _SETUP + "print(model(x) + torch.arange(2, device=x.device))\n",
        _SETUP + "print(model(x) * torch.tensor(0.5))\n",
        _SETUP + "print(model(x)[torch.tensor([0, 1])])\n",
        _SETUP + "total = torch.tensor(0.0)\ntotal = total + model(x).sum()\n",
    ),
)
