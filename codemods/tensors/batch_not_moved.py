"""## What it does
Checks for tensors of a batch that are still on the CPU when they reach a model or a loss on the accelerator: targets,
masks, a second input, a whole validation loop, the graph of a dataset, the encoding of a tokenizer. Strings, sequence
lengths and values that only NumPy reads are not reported.

## Why is this bad?
A `DataLoader` yields CPU tensors. The first operation that combines one of them with a tensor on the accelerator fails
with *Expected all tensors to be on the same device*.

## Example
```python
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
loader = DataLoader(TensorDataset(torch.rand(8, 4), torch.randint(2, (8,))), batch_size=4)
model = nn.Linear(4, 2).to(device)
for images, labels in loader:
    images = images.to(device)
    loss = nn.functional.cross_entropy(model(images), labels)
```

## Use instead
```python
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
loader = DataLoader(TensorDataset(torch.rand(8, 4), torch.randint(2, (8,))), batch_size=4)
model = nn.Linear(4, 2).to(device)
for images, labels in loader:
    images = images.to(device)
    labels = labels.to(device)
    loss = nn.functional.cross_entropy(model(images), labels)
```

## Fix safety
Safe: `.to()` returns a tensor that is already on the device unchanged. `non_blocking=True` overlaps the copy with
computation only if the loader has `pin_memory=True`; adding that is an unsafe fix, because the loader then allocates
page-locked memory.

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
from devfix.analysis.domain.values import Origin
from devfix.analysis.observations import DeviceMismatch, Operand, Transfer
from devfix.analysis.scopes import condition_of
from devfix.fixes.event_path import event_path
from devfix.fixes.tensors.batch_moves import batch_fixes
from devfix.fixes.tensors.misplaced_items import MisplacedItem, moved_siblings, name_of
from devfix.fixes.tensors.whole_object import whole_object_fixes
from devfix.model import AddKeyword, Applicability, Finding, Fix, Severity
from devfix.rules.rule import Example, Rule, command_attributes

__all__ = ["RULE"]

_TENSOR_KEYWORDS = frozenset(
    "input_ids attention_mask token_type_ids labels pixel_values position_ids decoder_input_ids input_values "
    "input_features inputs_embeds pixel_mask x input inputs images image data".split()
)


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per batch, for all its items that are used on the accelerator."""
    uses: dict[int, dict[tuple[str, ...], list[tuple[DeviceMismatch, Operand]]]] = {}
    certain_tensors = _certain_tensors(observations)
    moved_by_key = {t.origin.site_id for t in observations.transfers if t.device == "accelerator" and t.origin.path}
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            for origin in operand.origins:
                if origin.kind not in ("batch", "made"):
                    continue
                if _may_be_a_number(mismatch, operand, origin):
                    continue
                if operand.text.startswith("**") and not origin.path and origin.site_id in moved_by_key:
                    continue  # the entries that the program knows are moved; which others there are is unknown
                if (
                    operand.is_certain
                    or not mismatch.opaque
                    or _is_input(mismatch, operand, (origin.site_id, origin.path), certain_tensors)
                ):
                    uses.setdefault(origin.site_id, {}).setdefault(origin.path, []).append((mismatch, operand))
    moved_conditionally = [
        t for t in observations.transfers if t.device == "accelerator" and condition_of(t.point) is not None
    ]
    for key, items in uses.items():
        misplaced_items = []
        for item, pairs in items.items():
            wholes = {(key, item[:depth]) for depth in range(1, len(item) + 1)}
            moves = [t for t in moved_conditionally if (t.origin.site_id, t.origin.path) in wholes]
            if observations.sources[key].kind == "made":
                moves = []
            # not if it, or what it is a part of, is moved under a condition that the analysis cannot decide
            sure = [pair for pair in pairs if not any(_may_precede(move, pair[0]) for move in moves)]
            if not sure:
                continue
            distinct = {(mismatch.point.key, operand.text): (mismatch, operand) for mismatch, operand in sure}
            misplaced_items.append(
                MisplacedItem(
                    key,
                    item,
                    tuple(mismatch for mismatch, _ in distinct.values()),
                    tuple(operand.text for _, operand in distinct.values()),
                )
            )
        if observations.sources[key].kind == "made":
            misplaced_items = [misplaced for misplaced in misplaced_items if moved_siblings(observations, misplaced)]
        if misplaced_items:
            yield _finding(observations, key, misplaced_items)


def _may_precede(move: Transfer, use: DeviceMismatch) -> bool:
    """Return whether a move may be of what is used: in a function that leads there, or in place: ``batch[k] = …``.

    What another function moves is a name of its own.
    """
    statement = move.point.call_frame.stmt
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets):
        return True
    return any(frame.activation.node is move.point.call_frame.activation.node for frame in use.point.call_stack)


def _certain_tensors(observations: Observations) -> set[tuple[int, tuple[str, ...]]]:
    """Return the items of unknown datasets that an operation, or the move of such a batch, proves to be tensors."""
    moved_sources = {
        t.origin.site_id for t in observations.transfers if t.device == "accelerator" and t.origin.path in ((), ("*",))
    }
    whole_object_fixes = [
        binding for binding in observations.bindings if binding.origin.kind == "batch" and not binding.origin.path
    ]
    moved_names = {binding.name for binding in whole_object_fixes if binding.origin.site_id in moved_sources}
    similar_sources = {
        binding.origin.site_id
        for binding in whole_object_fixes
        if binding.name in moved_names and binding.origin.site_id not in moved_sources
    }
    items = {
        (origin.site_id, origin.path)
        for mismatch in observations.mismatches
        for operand in mismatch.cpu
        for origin in operand.origins
        if origin.site_id in similar_sources and origin.kind == "batch"
    }
    return items | {
        (origin.site_id, origin.path)
        for mismatch in observations.mismatches
        if not mismatch.opaque
        for operand in mismatch.cpu
        for origin in operand.origins
        if origin.kind == "batch"
    }


def _may_be_a_number(mismatch: DeviceMismatch, operand: Operand, origin: Origin) -> bool:
    """Return whether a value deep in a batch of unknown structure may be a number: ``shapes[i][0][1]``."""
    return mismatch.takes_numbers and not operand.is_certain and len(origin.path) >= _DEPTH_OF_NUMBERS


_DEPTH_OF_NUMBERS = 3  # tensors are rarely nested as deep


def _is_input(
    mismatch: DeviceMismatch,
    operand: Operand,
    identity: tuple[int, tuple[str, ...]],
    certain_tensors: set[tuple[int, tuple[str, ...]]],
) -> bool:
    """Return whether an item of unknown type is a model's only argument or is passed by a keyword for tensors."""
    if identity in certain_tensors:
        return True
    call = mismatch.point.node
    if not isinstance(call, ast.Call) or _is_of_any_class(mismatch):
        return False
    if len(call.args) == 1 and not call.keywords and ast.unparse(call.args[0]) == operand.text:
        return True
    named = {ast.unparse(keyword.value): keyword.arg for keyword in call.keywords if keyword.arg}
    return named.get(operand.text) in _TENSOR_KEYWORDS


def _is_of_any_class(mismatch: DeviceMismatch) -> bool:
    """Return whether the called module comes from a registry or a configuration: it may move its own input."""
    state = mismatch.point.state
    modules = [operand.module for operand in mismatch.accelerator if operand.module is not None]
    names = [state.at(module.id).name for module in modules if state is not None and state.has(module.id)]
    return any(not name or _is_made_by_an_object(name) for name in names)


def _is_made_by_an_object(name: str) -> bool:
    """Return whether a method of an object made a value: ``Registry.get``, and not ``Net.from_pretrained``."""
    *owners, last = name.replace("()", "").split(".")
    return any(owner[:1].isupper() for owner in owners) and not last.startswith(("from_", "load"))


def _finding(observations: Observations, key: int, misplaced_items: list[MisplacedItem]) -> Finding:
    source = observations.sources[key]
    first = misplaced_items[0].mismatches[0]
    names = list(dict.fromkeys(name_of(observations, misplaced) for misplaced in misplaced_items))
    bindings = [
        binding
        for misplaced in misplaced_items
        for binding in observations.bindings
        if binding.origin.source_id == key and binding.origin.path == misplaced.path
    ]
    named = next((b.point for b in bindings if b.kind != "param"), source.point)
    point = source.point if source.kind in ("encoding", "whole") else named
    fixes = _fixes(observations, misplaced_items)
    is_non_blocking = any("non_blocking=True" in _code_of(fix) for fix in fixes[:1])
    notes: tuple[str, ...] = ()
    if is_non_blocking and source.pinned is False:
        adds = "`devfix apply --unsafe-fixes` adds it"
        notes = (f"non_blocking=True has an effect only with DataLoader(pin_memory=True); {adds}",)
        fixes = [*fixes, *_with_pinned_memory(observations, key, fixes)]
    listed = ", ".join(f"`{name}`" for name in names)
    verb = "are" if len(names) > 1 else "is"
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if first.latent else Severity.ERROR,
        point.tree.path,
        point.tree.span(point.node if hasattr(point.node, "lineno") else point.stmt),
        f"{listed} {_ORIGIN[source.kind]} {verb} on the CPU, but {verb} used with tensors on the accelerator",
        event_path(
            (point, "created", "the batch is on the CPU"),
            *(
                (mismatch.point, "used", f"`{text.lstrip('*')}` is used with tensors on the accelerator")
                for misplaced in misplaced_items
                for mismatch, text in list(zip(misplaced.mismatches, misplaced.texts, strict=False))[:2]
            ),
        ),
        tuple(fixes),
        "" if fixes else "no scope in which it could be moved names both the item and a device",
        notes,
    )


def _fixes(observations: Observations, misplaced_items: list[MisplacedItem]) -> list[Fix]:
    """Return the fixes, moves of the whole batch first unless the program moves its items separately."""
    parts = [
        t
        for t in observations.transfers
        if t.origin.site_id == misplaced_items[0].site_id and t.device == "accelerator" and t.origin.path
    ]
    whole, separate = (
        list(whole_object_fixes(observations, misplaced_items)),
        list(batch_fixes(observations, misplaced_items)),
    )
    return [*separate, *whole] if parts else [*whole, *separate]


_ORIGIN = {
    "batch": "from the loader",
    "encoding": "from the tokenizer",
    "made": "from the data",
    "whole": "from the data",
}


def _code_of(fix: Fix) -> str:
    return " ".join(getattr(edit, "code", "") for edit in fix.edits)


def _with_pinned_memory(observations: Observations, key: int, fixes: list[Fix]) -> list[Fix]:
    """Return the best fix with ``pin_memory=True`` added, if the project constructs the loader."""
    point = observations.sources[key].loader_site
    if point is None or not isinstance(point.node, ast.Call) or not fixes:
        return []
    if any(keyword.arg == "pin_memory" for keyword in point.node.keywords):
        return []
    edit = AddKeyword(point.tree.path, point.tree.span(point.node), "pin_memory", "True")
    best = fixes[0]
    title = f"{best.title} and pass `pin_memory=True` to the loader"
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
