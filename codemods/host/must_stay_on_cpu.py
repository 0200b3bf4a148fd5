"""## What it does
Finds what PyTorch itself wants on the CPU and gets from the accelerator: the lengths of `pack_padded_sequence`, the
weights of a `WeightedRandomSampler` whose generator is on the CPU, a dataset on the accelerator under `pin_memory=True`
or worker processes; and what a module is given that the program itself keeps on the CPU (`teacher.cpu()`).

## Why is this bad?
Moving everything to the accelerator is one move too many: *'lengths' argument should be a 1D CPU int64 tensor*, *cannot
pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned*, *Cannot re-initialize CUDA in forked subprocess*,
*Expected a 'cuda' device type for generator but found 'cpu'*.

## Example
```python
lengths = lengths.to(device)
packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
```

## Use instead
```python
lengths = lengths.to(device)
packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
```

## Fix safety
Safe: `.cpu()` returns a tensor that is there already as it is, and memory that is on the accelerator gains nothing from
pinning. A move inside of `__getitem__` or a `collate_fn` goes to the loops over its loaders, which gives the same
batches. Where it cannot, `num_workers=0` is an unsafe fix. The output of a module that stays on the CPU is brought back
where it meets the accelerator.

## References
- [pack_padded_sequence](https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html)
- [CUDA in multiprocessing](https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing)
- [bentrevett/pytorch-seq2seq#156](https://github.com/bentrevett/pytorch-seq2seq/issues/156)
- [unit8co/darts#436](https://github.com/unit8co/darts/issues/436)
- [pytorch/pytorch#77159](https://github.com/pytorch/pytorch/issues/77159)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.observations import HostAccess
from devfix.fixes.event_path import event_path
from devfix.fixes.host_transfer import to_cpu
from devfix.fixes.modules.cpu_offload import ListAppend, kept_there, trip
from devfix.fixes.tensors.collate_moves import moved_in_the_loops
from devfix.model import Applicability, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_TOLD = {
    "lengths": "`{text}` is on the accelerator, and `{consumer}` takes lengths from the CPU only",
    "drawn": "`{text}` is on the accelerator, and `{consumer}` draws from it with a generator of the CPU",
    "pinned": "the loader pins the memory of a dataset that is on the accelerator",
    "workers": "worker processes would make tensors on the accelerator, which a forked process cannot",
}


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per expression."""
    for use in observations.needs_cpu.values():
        if use.kind in _TOLD:
            yield _finding(observations, use)
    for kept in kept_there(observations):
        yield _of_module(observations, kept)


def _of_module(observations: Observations, kept: ListAppend) -> Finding:
    call, (_, call_frame) = next(iter(kept.calls.items()))
    fixes = tuple(trip(observations, kept))
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR,
        call_frame.tree.path,
        call_frame.tree.span(call),
        f"`{kept.name}` is kept on the CPU and given values on the accelerator",
        event_path(
            (kept.moved, "moved", "this stays on the CPU"),
            *((point, "used", "and is given values on the accelerator here") for point, _ in kept.calls.values()),
        ),
        fixes,
        "" if fixes else "what it is given cannot be told apart: bring it to the CPU",
    )


def _finding(observations: Observations, use: HostAccess) -> Finding:
    tree, text = use.point.tree, ast.unparse(use.expression)
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if use.latent else Severity.ERROR,
        tree.path,
        tree.span(use.expression),
        _TOLD[use.kind].format(text=text, consumer=use.operation),
        event_path((use.point, "used", "it is needed on the CPU here")),
        (*_in_the_loops(observations, use), _fix(use)),
    )


def _in_the_loops(observations: Observations, use: HostAccess) -> Iterator[Fix]:
    """A dataset that leaves the move to the loop."""
    edits = moved_in_the_loops(observations, use) if use.kind in ("pinned", "workers") else ()
    if edits:
        yield Fix("move the batches in the loop, not in the dataset", edits)


def _fix(use: HostAccess) -> Fix:
    tree = use.point.tree
    if use.kind == "pinned":
        off = ReplaceExpression(tree.path, tree.span(use.expression), "False")
        return Fix("do not pin what is on the accelerator", (off,))
    if use.kind == "workers":
        none = ReplaceExpression(tree.path, tree.span(use.expression), "0")
        return Fix("load in the main process", (none,), Applicability.UNSAFE)
    return Fix(f"bring `{ast.unparse(use.expression)}` to the CPU", (to_cpu(tree, use.expression, use.held),))


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
lstm = nn.LSTM(3, 4, batch_first=True).to(device)
x = torch.randn(2, 5, 3).to(device)
"""

RULE = Rule(
    code="DEV602",
    name="must-stay-on-cpu",
    summary="Lengths of sequences, or data under pin_memory, are on the accelerator and needed on the CPU.",
    documentation=__doc__,
    detect=detect,
    causes=("cpu-only-operand",),
    error_families=("pack", "pin", "cpu-only", "split"),
    invalid=(
        Example(
            "lengths of a packed sequence",
            _SETUP
            + "lengths = torch.tensor([5, 3]).to(device)\nlstm(pack_padded_sequence(x, lengths, batch_first=True))\n",
            _SETUP + "lengths = torch.tensor([5, 3]).to(device)\n"
            "lstm(pack_padded_sequence(x, lengths.cpu(), batch_first=True))\n",
        ),
        Example(
            "pinned memory",
            _SETUP + "for (part,) in DataLoader(TensorDataset(x), batch_size=1, pin_memory=True):\n    lstm(part)\n",
            _SETUP + "for (part,) in DataLoader(TensorDataset(x), batch_size=1, pin_memory=False):\n    lstm(part)\n",
        ),
    ),
    valid=(
        _SETUP + "lstm(pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True))\n",
        _SETUP + "lstm(pack_padded_sequence(x, [5, 3], batch_first=True))\n",
        _SETUP + "print(x[torch.randperm(2)])\n",
    ),
)
