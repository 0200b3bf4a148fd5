"""## What it does
Finds tensors of a batch that reach a model or a loss on the accelerator while they are still on the CPU: targets,
masks, a second input, a whole validation loop, the graph of a dataset, the encoding of a tokenizer. Strings, sequence
lengths and what only feeds NumPy are left alone.

## Why is this bad?
A `DataLoader` yields CPU tensors. The first operation that mixes one of them with a value on the accelerator fails
with *Expected all tensors to be on the same device*.

## Example
```python
for images, labels in loader:
    images = images.to(device, non_blocking=True)
    loss = criterion(model(images), labels)
```

## Use instead
```python
for images, labels in loader:
    images = images.to(device, non_blocking=True)
    labels = labels.to(device, non_blocking=True)
    loss = criterion(model(images), labels)
```

## Fix safety
Safe: a tensor that is already on the device is returned as it is. `non_blocking=True` overlaps the copy only when the
loader has `pin_memory=True`; adding that is an unsafe fix, because it changes the memory that the loader uses.

## References
- [Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
- [Pinned memory](https://docs.pytorch.org/docs/stable/data.html#memory-pinning)
- [xinyu1205/recognize-anything#155](https://github.com/xinyu1205/recognize-anything/issues/155)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from devfix.analysis import Observations
from devfix.analysis.observations import DeviceMismatch, Operand
from devfix.fixes.event_path import event_path
from devfix.fixes.insertion_point import under_if
from devfix.fixes.tensors.batch_moves import candidates
from devfix.fixes.tensors.misplaced_items import MisplacedItem, made_siblings, shown
from devfix.fixes.tensors.whole_object import roots
from devfix.model import AddKeyword, Applicability, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_TENSOR_KEYWORDS = frozenset(
    "input_ids attention_mask token_type_ids labels pixel_values position_ids decoder_input_ids input_values "
    "input_features inputs_embeds pixel_mask x input inputs images image data".split()
)


def detect(observations: Observations) -> Iterator[Finding]:
    """One finding per batch: every item of it that meets the accelerator."""
    met: dict[int, dict[tuple[str, ...], list[tuple[DeviceMismatch, Operand]]]] = {}
    certain = _certain(observations)
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            for origin in operand.origins:
                if origin.kind not in ("batch", "made"):
                    continue
                if (
                    operand.is_certain
                    or not mismatch.opaque
                    or _is_input(mismatch, operand, (origin.site_id, origin.path), certain)
                ):
                    met.setdefault(origin.site_id, {}).setdefault(origin.path, []).append((mismatch, operand))
    sometimes = {
        (t.origin.site_id, t.origin.path)
        for t in observations.transfers
        if t.device == "accelerator" and under_if(t.point)
    }
    for key, items in met.items():
        misplaced_items = []
        for item, pairs in items.items():
            if (key, item) in sometimes and observations.sources[key].kind != "made":
                continue  # moved under a condition that devfix cannot decide: the author knows when
            distinct = {(mismatch.point.key, operand.text): (mismatch, operand) for mismatch, operand in pairs}
            misplaced_items.append(
                MisplacedItem(
                    key,
                    item,
                    tuple(mismatch for mismatch, _ in distinct.values()),
                    tuple(operand.text for _, operand in distinct.values()),
                )
            )
        if observations.sources[key].kind == "made":
            misplaced_items = [misplaced for misplaced in misplaced_items if made_siblings(observations, misplaced)]
        if misplaced_items:
            yield _finding(observations, key, misplaced_items)


def _certain(observations: Observations) -> set[tuple[int, tuple[str, ...]]]:
    """Items of unknown datasets that some operation, or the move of such a batch elsewhere, proves to be tensors."""
    root = {
        t.origin.site_id for t in observations.transfers if t.device == "accelerator" and t.origin.path in ((), ("*",))
    }
    roots = [binding for binding in observations.bindings if binding.origin.kind == "batch" and not binding.origin.path]
    moved = {binding.name for binding in roots if binding.origin.site_id in root}
    alike = {
        binding.origin.site_id for binding in roots if binding.name in moved and binding.origin.site_id not in root
    }
    items = {
        (origin.site_id, origin.path)
        for mismatch in observations.mismatches
        for operand in mismatch.cpu
        for origin in operand.origins
        if origin.site_id in alike and origin.kind == "batch"
    }
    return items | {
        (origin.site_id, origin.path)
        for mismatch in observations.mismatches
        if not mismatch.opaque
        for operand in mismatch.cpu
        for origin in operand.origins
        if origin.kind == "batch"
    }


def _is_input(
    mismatch: DeviceMismatch,
    operand: Operand,
    identity: tuple[int, tuple[str, ...]],
    certain: set[tuple[int, tuple[str, ...]]],
) -> bool:
    """Whether an item of unknown type goes into a model as tensors do: its only argument, or a tensor keyword."""
    if identity in certain:
        return True
    call = mismatch.point.node
    if not isinstance(call, ast.Call):
        return False
    if len(call.args) == 1 and not call.keywords and ast.unparse(call.args[0]) == operand.text:
        return True
    named = {ast.unparse(keyword.value): keyword.arg for keyword in call.keywords if keyword.arg}
    return named.get(operand.text) in _TENSOR_KEYWORDS


def _finding(observations: Observations, key: int, misplaced_items: list[MisplacedItem]) -> Finding:
    source = observations.sources[key]
    first = misplaced_items[0].mismatches[0]
    names = list(dict.fromkeys(shown(observations, misplaced) for misplaced in misplaced_items))
    bindings = [
        binding
        for misplaced in misplaced_items
        for binding in observations.bindings
        if binding.origin.site_id == key and binding.origin.path == misplaced.item
    ]
    named = next((b.point for b in bindings if b.kind != "param"), source.point)
    where = source.point if source.kind in ("encoding", "whole") else named
    fixes = _fixes(observations, misplaced_items)
    waits = any("non_blocking=True" in _told(fix) for fix in fixes[:1])
    notes: tuple[str, ...] = ()
    if waits and source.pinned is False:
        notes = ("non_blocking=True overlaps the copy only with DataLoader(pin_memory=True); --unsafe-fixes adds it",)
        fixes = [*fixes, *_pinned(observations, key, fixes)]
    listed = ", ".join(f"`{name}`" for name in names)
    plural = len(names) > 1
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if first.latent else Severity.ERROR,
        where.tree.path,
        where.tree.span(_header(where.stmt, where.node)),
        f"{listed} {'come' if plural else 'comes'} {_ORIGIN[source.kind]} on the CPU and "
        f"{'meet' if plural else 'meets'} values on the accelerator",
        event_path(
            (where, "created", "the batch comes on the CPU"),
            *(
                (mismatch.point, "used", f"{text} is used with values on the accelerator")
                for misplaced in misplaced_items
                for mismatch, text in list(zip(misplaced.mismatches, misplaced.texts, strict=False))[:2]
            ),
        ),
        tuple(fixes),
        "" if fixes else "neither the item nor its device has a name where it could be moved",
        notes,
    )


def _fixes(observations: Observations, misplaced_items: list[MisplacedItem]) -> list[Fix]:
    """What moves as a whole is moved as a whole, unless the author moves its parts."""
    parts = [
        t
        for t in observations.transfers
        if t.origin.site_id == misplaced_items[0].key and t.device == "accelerator" and t.origin.path
    ]
    root, each = list(roots(observations, misplaced_items)), list(candidates(observations, misplaced_items))
    return [*each, *root] if parts else [*root, *each]


_ORIGIN = {
    "batch": "from the loader",
    "encoding": "from the tokenizer",
    "made": "from the data",
    "whole": "from the data",
}


def _header(statement: ast.stmt, node: ast.AST) -> ast.AST:
    return node if hasattr(node, "lineno") else statement


def _told(fix: Fix) -> str:
    return " ".join(getattr(edit, "code", "") for edit in fix.edits)


def _pinned(observations: Observations, key: int, fixes: list[Fix]) -> list[Fix]:
    """The same move with pinned memory, where the loader's construction is in the project."""
    point = observations.sources[key].loader_site
    if point is None or not isinstance(point.node, ast.Call) or not fixes:
        return []
    if any(keyword.arg == "pin_memory" for keyword in point.node.keywords):
        return []
    edit = AddKeyword(point.tree.path, point.tree.span(point.node), "pin_memory", "True")
    best = fixes[0]
    title = f"{best.title}, and pin the loader's memory"
    return [replace(best, title=title, edits=(*best.edits, edit), applicability=Applicability.UNSAFE)]


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,))), batch_size=4, pin_memory=True)
model = nn.Linear(4, 2).to(device)
criterion = nn.CrossEntropyLoss()
"""

RULE = Rule(
    code="DEV101",
    name="batch-not-moved",
    summary="Tensors of a batch stay on the CPU while the model is on the accelerator.",
    documentation=__doc__,
    detect=detect,
    causes=("batch-from-loader",),
    concerns="values",
    invalid=(
        Example(
            "a forgotten target, beside its sibling",
            _SETUP
            + "for x, y in loader:\n    x = x.to(device)\n    loss = criterion(model(x), y)\n    loss.backward()\n",
            _SETUP + "for x, y in loader:\n    x = x.to(device)\n    y = y.to(device)\n"
            "    loss = criterion(model(x), y)\n    loss.backward()\n",
        ),
        Example(
            "nothing is moved",
            _SETUP + "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n",
            _SETUP + "for x, y in loader:\n    x = x.to(device, non_blocking=True)\n"
            "    y = y.to(device, non_blocking=True)\n    loss = criterion(model(x), y)\n    loss.backward()\n",
        ),
    ),
    valid=(
        _SETUP + "for x, y in loader:\n    x, y = x.to(device), y.to(device)\n    criterion(model(x), y).backward()\n",
        _SETUP
        + "for x, y in loader:\n    x = x.to(device)\n    print(model(x).argmax(1).cpu().numpy() == y.numpy())\n",
        _SETUP
        + "for batch in loader:\n    x, y = [t.to(device) for t in batch]\n    criterion(model(x), y).backward()\n",
    ),
)
