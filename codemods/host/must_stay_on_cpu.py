"""## What it does
Checks for accelerator tensors that are passed to APIs that require CPU tensors: the lengths of `pack_padded_sequence`,
the weights of a `WeightedRandomSampler` with a CPU generator, a dataset on the accelerator under `pin_memory=True` or
worker processes; and the inputs of a module that the program keeps on the CPU (`teacher.cpu()`).

## Why is this bad?
Some APIs require CPU tensors: *'lengths' argument should be a 1D CPU int64 tensor*, *cannot pin
'torch.cuda.FloatTensor' only dense CPU tensors can be pinned*, *Cannot re-initialize CUDA in forked subprocess*,
*Expected a 'cuda' device type for generator but found 'cpu'*.

## Example
```python
import torch
from torch.nn.utils.rnn import pack_padded_sequence

device = torch.device("cuda")
x = torch.rand(2, 5, 4, device=device)
lengths = torch.tensor([5, 3]).to(device)
packed = pack_padded_sequence(x, lengths, batch_first=True)
```

## Use instead
```python
import torch
from torch.nn.utils.rnn import pack_padded_sequence

device = torch.device("cuda")
x = torch.rand(2, 5, 4, device=device)
lengths = torch.tensor([5, 3]).to(device)
packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True)
```

## Fix safety
Safe: `.cpu()` returns a tensor that is already on the CPU unchanged, and pinning has no benefit for accelerator memory.
A move inside `__getitem__` or a `collate_fn` is relocated to the loops over the loaders, which yields the same batches.
If that is not possible, `num_workers=0` is an unsafe fix. The output of a module that stays on the CPU is moved back
where it is used on the accelerator.

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
from devfix.fixes.modules.cpu_offload import OffloadedModule, offloaded_modules, transfer_fixes
from devfix.fixes.tensors.collate_moves import move_batches_in_loops
from devfix.model import Applicability, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_MESSAGES = {
    "lengths": "`{text}` is on the accelerator, but `{operation}` requires lengths on the CPU",
    "drawn": "`{text}` is on the accelerator, but `{operation}` draws from it with a CPU generator",
    "pinned": "`pin_memory=True` requires CPU tensors, but the dataset is on the accelerator",
    "workers": "the dataset creates accelerator tensors in worker processes, but a forked process cannot use CUDA",
}


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per expression, and one per module that stays on the CPU."""
    for use in observations.host_accesses.values():
        if use.kind in _MESSAGES:
            yield _finding(observations, use)
    for offloaded in offloaded_modules(observations):
        yield _module_finding(observations, offloaded)


def _module_finding(observations: Observations, offloaded: OffloadedModule) -> Finding:
    call, (_, call_frame) = next(iter(offloaded.calls.items()))
    fixes = tuple(transfer_fixes(observations, offloaded))
    return Finding(
        RULE.code,
        RULE.name,
        Severity.ERROR,
        call_frame.tree.path,
        call_frame.tree.span(call),
        f"`{offloaded.name}` stays on the CPU, but is called with tensors on the accelerator",
        event_path(
            (offloaded.moved, "moved", "the module is moved to the CPU here and stays there"),
            *((point, "used", "called with tensors on the accelerator here") for point, _ in offloaded.calls.values()),
        ),
        fixes,
        "" if fixes else "its inputs cannot be identified: move them to the CPU",
    )


def _finding(observations: Observations, use: HostAccess) -> Finding:
    tree, text = use.point.tree, ast.unparse(use.expression)
    fixes = () if use.may_be_number else (*_move_in_loops(observations, use), _fix(use))
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if use.latent else Severity.ERROR,
        tree.path,
        tree.span(use.expression),
        _MESSAGES[use.kind].format(text=text, operation=use.operation),
        event_path((use.point, "used", "a CPU tensor is required here")),
        fixes,
        "" if fixes else "another call passes numbers, which have no `.cpu()`",
    )


def _move_in_loops(observations: Observations, use: HostAccess) -> Iterator[Fix]:
    """Yield a fix that moves the batches in the loop instead of in the dataset."""
    edits = move_batches_in_loops(observations, use) if use.kind in ("pinned", "workers") else ()
    if edits:
        yield Fix("move the batches in the loop instead of in the dataset", edits)


def _fix(use: HostAccess) -> Fix:
    tree = use.point.tree
    if use.kind == "pinned":
        off = ReplaceExpression(tree.path, tree.span(use.expression), "False")
        return Fix("set `pin_memory=False`", (off,))
    if use.kind == "workers":
        none = ReplaceExpression(tree.path, tree.span(use.expression), "0")
        return Fix("set `num_workers=0`", (none,), Applicability.UNSAFE)
    return Fix(f"move `{ast.unparse(use.expression)}` to the CPU", (to_cpu(tree, use.expression, use.tensors),))


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
    summary="An accelerator tensor is passed to an API that requires CPU tensors, such as pack_padded_sequence.",
    documentation=__doc__,
    detect=detect,
    causes=("cpu-only-operand",),
    error_families=("pack", "pin", "cpu-only", "split", "fork"),
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
