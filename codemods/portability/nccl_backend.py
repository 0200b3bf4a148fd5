"""## What it does
Checks for process groups whose backend is the literal `"nccl"`, and for options, parameters and variables for the
backend that have this value. `world_size=torch.cuda.device_count()` of such a group becomes at least 1.
Enabled only by `devfix port`, `--select DEV8` or `--select DEV814`.

## Why is this bad?
NCCL needs CUDA devices. Without, the first line of the program fails: *ProcessGroupNCCL is only supported with GPUs, no
GPUs found!*

## Example
```python
import torch
import torch.distributed as dist

dist.init_process_group(backend="nccl")
```

## Use instead
```python
import torch
import torch.distributed as dist

dist.init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")
```

## Fix safety
Safe: with CUDA, the backend is NCCL as before. Gloo comes with PyTorch, and runs on every machine. A file that does not
import `torch`, or that sets `CUDA_VISIBLE_DEVICES` later, is reported and not edited.

## References
- [Backends of torch.distributed](https://docs.pytorch.org/docs/stable/distributed.html#backends)
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.portability._backends import nccl_backends
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per literal."""
    for tree in observations.trees[:1]:
        if foreign_part(tree.path):
            continue
        for backend in nccl_backends(tree):
            yield Finding(
                RULE.code,
                RULE.name,
                Severity.ADVICE,
                tree.path,
                tree.span(backend.node),
                "the backend `nccl` requires CUDA",
                (tree.event("used", backend.node, "chosen here"),),
                (backend.fix,) if backend.fix else (),
                backend.reason,
            )


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = "import argparse\nimport torch\nimport torch.distributed as dist\n\n"
_CHOICE = '"nccl" if torch.cuda.is_available() else "gloo"'

RULE = Rule(
    code="DEV814",
    name="nccl-backend",
    summary="A process group that always uses NCCL.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    default=False,
    invalid=(
        Example(
            "a positional argument",
            _SETUP + 'dist.init_process_group("nccl", init_method="env://")\n',
            _SETUP + f'dist.init_process_group({_CHOICE}, init_method="env://")\n',
        ),
        Example(
            "an option",
            _SETUP + 'parser = argparse.ArgumentParser()\nparser.add_argument("--dist-backend", default="nccl")\n'
            "print(parser.parse_args(), torch.ones(1))\n",
            _SETUP + f'parser = argparse.ArgumentParser()\nparser.add_argument("--dist-backend", default={_CHOICE})\n'
            "print(parser.parse_args(), torch.ones(1))\n",
        ),
    ),
    valid=(
        _SETUP + 'dist.init_process_group("gloo")\n',
        _SETUP + 'if torch.cuda.is_available():\n    dist.init_process_group("nccl")\n',
    ),
)
