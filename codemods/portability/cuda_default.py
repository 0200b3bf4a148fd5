"""## What it does
Checks for options and dataclass fields for a device whose default is the literal `"cuda"`, such as
`add_argument("--device", default="cuda")`, and for options whose default is a type such as `"torch.cuda.FloatTensor"`.
Enabled only by `devfix port`, `--select DEV8` or `--select DEV816`.

## Why is this bad?
The program can run on other machines, but only for those who know the option. Without it, it fails: *Torch not compiled
with CUDA enabled*.

## Example
```python
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
print(torch.ones(3, device=args.device))
```

## Use instead
```python
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
args = parser.parse_args()
print(torch.ones(3, device=args.device))
```

## Fix safety
Safe: with CUDA, the default is the same, and a device on the command line counts as before. The default is reported and
not edited in a file in which the name `torch` is taken, in code that no checked program reaches, and in a program that
sets `CUDA_VISIBLE_DEVICES` or starts processes, because both must precede the first query for CUDA. `devfix port` also
lists devices in YAML and JSON files, which have no expressions.

## References
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
"""

from __future__ import annotations

from collections.abc import Iterator

from codemods.portability._cuda_defaults import cuda_defaults
from devfix.analysis import Observations
from devfix.fixes.vendored_code import foreign_part
from devfix.model import Finding, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per default, of all files of a program."""
    trees = [tree for tree in observations.trees if not foreign_part(tree.path)]
    for default in cuda_defaults(trees, observations.targets, observations.is_library):
        yield Finding(
            RULE.code,
            RULE.name,
            Severity.ADVICE,
            default.tree.path,
            default.tree.span(default.node),
            f"the default of `{default.name}` requires CUDA",
            (default.tree.event("used", default.node, "set here"),),
            (default.fix,) if default.fix else (),
            default.reason,
        )


__getattr__, __dir__ = command_attributes(__name__)


_PARSER = "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\n"
_CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'
_RUN = "print(torch.ones(3, device=parser.parse_args().device))\n"
_TYPED = "print(torch.ones(3).type(parser.parse_args().type))\n"
_DATACLASS = "import torch\nfrom dataclasses import dataclass\n\n@dataclass\nclass Config:\n    device: str = "
_CONFIGURED = "\n    size: int = 3\n\nconfig = Config()\nprint(torch.ones(config.size, device=config.device))\n"

RULE = Rule(
    code="DEV816",
    name="cuda-default",
    summary="An option or field for a device whose default is CUDA.",
    documentation=__doc__,
    detect=detect,
    error_families=("absent",),
    default=False,
    invalid=(
        Example(
            "an option with an index",
            _PARSER + 'parser.add_argument("-d", "--device", default="cuda:0", help="where")\n' + _RUN,
            _PARSER
            + 'parser.add_argument("-d", "--device", default="cuda:0" if torch.cuda.is_available() else "cpu",'
            + ' help="where")\n'
            + _RUN,
        ),
        Example(
            "a type of tensors",
            _PARSER + 'parser.add_argument("--type", default="torch.cuda.FloatTensor")\n' + _TYPED,
            _PARSER
            + 'parser.add_argument("--type", default="torch.cuda.FloatTensor" if torch.cuda.is_available()'
            + ' else "torch.FloatTensor")\n'
            + _TYPED,
        ),
        Example("a dataclass", _DATACLASS + '"cuda"' + _CONFIGURED, _DATACLASS + _CHOICE + _CONFIGURED),
    ),
    valid=(
        _PARSER + f'parser.add_argument("--device", default={_CHOICE})\n' + _RUN,
        _PARSER + 'parser.add_argument("--device", default=None)\n' + _RUN,
        _PARSER + 'parser.add_argument("--type", default="torch.FloatTensor")\n' + _TYPED,
    ),
)
