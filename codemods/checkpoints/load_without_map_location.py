"""## What it does
Checks for calls of `torch.load` without `map_location` whose result is a checkpoint or is used on the accelerator: it
fills a module or an optimizer, is a whole module, or is computed with there. The fix passes the device on which the
values are used: the program's device expression, or `"cpu"` if they only fill the state dict of a module that is moved
later. Data sets, caches, statistics and settings are not reported: they were on the CPU when they were saved. Nor are
checkpoints reported if the project moves all weights to the CPU before it saves them.

## Why is this bad?
Without `map_location`, `torch.load` restores each tensor to the device it was saved from. A checkpoint saved on
`cuda:3` fails to load on a machine with one accelerator, and a checkpoint saved on a GPU fails to load on a machine
without one. Both allocate memory on a device that the program did not choose.

## Example
```python
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
model.load_state_dict(torch.load("model.pt"))
```

## Use instead
```python
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
model.load_state_dict(torch.load("model.pt", map_location=device))
```

## Fix safety
Safe: only the device of the loaded tensors changes, not their structure or values. `weights_only` is not changed. A
file that the same run saved earlier, or a copy of it, is not reported unless several processes share it, because its
tensors return to the devices they came from. If the project names a release of PyTorch before 0.4, which takes no
device there, the fix passes `lambda storage, location: storage`. A whole model that the program does not move stays
where it was saved if CUDA is available, `None if torch.cuda.is_available() else "cpu"`. A name that is an index on
another path, `device = rank if args.ddp else "cuda"`, becomes `torch.device(device)`, because `torch.load` takes no
number. A call with the `**kwargs` that its function gets is not edited, because a caller may pass `map_location`.

## References
- [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
- [pytorch/examples@ee964a2](https://github.com/pytorch/examples/commit/ee964a2)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from codemods.checkpoints._device_indices import is_number, may_be_index, may_be_no_index
from codemods.checkpoints._loaded_state import is_checkpoint
from devfix.analysis import Observations
from devfix.analysis.callers.file_names import names_of
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.values import ACCELERATOR, Pointer, alternatives
from devfix.analysis.observations import Loading
from devfix.analysis.scenarios import literal_device
from devfix.analysis.scopes import module_names, value_of, visible
from devfix.fixes.event_path import event_path
from devfix.fixes.module_weights import has_parameters
from devfix.fixes.move_style import last_move
from devfix.fixes.value_scope import bound_at, device_for_move
from devfix.model import AddKeyword, Edit, Finding, Fix, ReplaceExpression, Severity
from devfix.rules.rule import Example, Rule, command_attributes
from devfix.syntax.tree import names_in, text_of, walk

__all__ = ["RULE", "edit_of", "target_of"]


def detect(observations: Observations) -> Iterator[Finding]:
    """Yield one finding per call of ``torch.load`` that does not choose a device."""
    reported = [loading for loading in observations.loadings.values() if _chooses_no_device(observations, loading)]
    calls = [loading.call for loading in reported]
    for loading in reported:
        yield _finding(observations, loading, calls)


def _chooses_no_device(observations: Observations, loading: Loading) -> bool:
    is_array = bool(loading.uses) and all(use.kind == "array" for use in loading.uses)
    is_compared = isinstance(loading.point.tree.parents.get(loading.call), ast.Compare)  # with a string or a number
    is_kept = loading.round_trip or observations.saves_on_cpu
    is_mapped = loading.is_mapped or is_kept or is_array or is_compared
    return not is_mapped and not _has_mapping_branch(loading) and _depends_on_device(loading)


_TEXTS = (0, 4)  # the first release that takes the name of a device: https://github.com/pytorch/pytorch/pull/4203
_WHERE_SAVED = 'None if torch.cuda.is_available() else "cpu"'
_STAYS = "what is loaded stays where it is, and the file does not name `torch`"
_OLD = "the project names a release of PyTorch before 0.4, which takes no device there"
_BESIDE = "its tensors may be used with those of another checkpoint that the function loads without `map_location`"
_PASSED_ON = "a caller of the function may pass `map_location` with its other keyword arguments"
_INDEXED = re.compile(r'f"cuda:\{(.+)\}"')

_STATE_USES = frozenset({"module", "buffer", "optimizer", "state", "object", "needs-cpu"})


def _depends_on_device(loading: Loading) -> bool:
    """Return whether it matters where the values are: they fill a module or are computed with on the accelerator.

    Data sets, statistics and settings were on the CPU when they were saved, and return there.
    """
    if any(use.kind in _STATE_USES or (use.kind == "tensor" and use.on_accelerator) for use in loading.uses):
        return True
    return is_checkpoint(loading.point.tree, loading.call)


def _has_mapping_branch(loading: Loading) -> bool:
    """Return whether another branch, for the other kind of machine, passes ``map_location``."""
    tree = loading.point.tree
    for parent in tree.ancestors(loading.call):
        if isinstance(parent, (ast.If, ast.IfExp, ast.Try)):
            keywords = {node.arg for node in ast.walk(parent) if isinstance(node, ast.keyword)}
            if "map_location" in keywords and _depends_on_accelerator(parent):
                return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
    return False


def _depends_on_accelerator(node: ast.If | ast.IfExp | ast.Try) -> bool:
    """Return whether the branches are for machines with and without an accelerator."""
    if isinstance(node, ast.Try):
        return True
    hints = ("cuda", "gpu", "cpu", "device", "mps")
    return bool(node.orelse) and any(hint in ast.unparse(node.test).lower() for hint in hints)


def _finding(observations: Observations, loading: Loading, reported: Collection[ast.Call]) -> Finding:
    point = loading.point
    target, reason = (None, _BESIDE) if _is_beside_another(loading, reported) else target_of(observations, loading)
    if _passes_options_on(loading):
        target, reason = None, _PASSED_ON
    fixes: tuple[Fix, ...] = ()
    if target is not None:
        target = _in_release(loading, target, observations.release)
        reason = reason if target is not None else _OLD
    if target is not None:
        fixes = (Fix(f"pass `map_location={target}`", (edit_of(loading, target),)),)
    uses = [(use.point, "used", _USE_NOTES.get(use.kind, "used here")) for use in loading.uses[:2]]
    return Finding(
        RULE.code,
        RULE.name,
        Severity.LATENT if loading.latent else Severity.ERROR,
        point.tree.path,
        point.span,
        "`torch.load` without `map_location` restores tensors to the device they were saved from",
        event_path((point, "loaded", "the checkpoint is loaded to the device it was saved from"), *uses),
        fixes,
        reason,
    )


def _passes_options_on(loading: Loading) -> bool:
    """Return whether the call passes the keyword arguments on that its function gets: ``torch.load(f, **kwargs)``."""
    arguments = getattr(loading.point.call_frame.activation.node, "args", None)
    given = arguments.kwarg.arg if isinstance(arguments, ast.arguments) and arguments.kwarg is not None else None
    unpacked = [word.value for word in loading.call.keywords if word.arg is None]
    return any(isinstance(value, ast.Name) and value.id == given for value in unpacked)


def _is_beside_another(loading: Loading, reported: Collection[ast.Call]) -> bool:
    """Return whether its tensors may be used with those of another checkpoint, which would stay where it was saved."""
    if not any(use.kind == "tensor" and not use.on_accelerator for use in loading.uses):
        return False
    calls = [node for node in walk(loading.point.call_frame.activation.node) if isinstance(node, ast.Call)]
    alike = [call for call in calls if text_of(call.func) == text_of(loading.call.func) and call not in reported]
    return any(len(call.args) < 2 and "map_location" not in {word.arg for word in call.keywords} for call in alike)


_USE_NOTES = {
    "module": "loaded into a module here",
    "optimizer": "loaded into an optimizer here",
    "tensor": "its tensors are used with other tensors here",
    "moved": "moved here",
    "object": "used as a module here",
}


#: Libraries with devices to which ``torch.load`` restores nothing.
#: https://github.com/pytorch/pytorch/blob/main/torch/serialization.py (``default_restore_location``)
_NOT_RESTORED = frozenset({"torch_xla"})

#: Uses that copy what was loaded to a device of their own.
_COPYING = ("module", "state", "optimizer", "moved")


def target_of(observations: Observations, loading: Loading) -> tuple[str | None, str]:
    """Return the device expression for this call, or ``None`` and the reason why there is none."""
    point = loading.point
    # A state dict for a module on the CPU needs no device: the module moves its weights later.
    only_module_on_cpu = bool(loading.uses) and all(
        use.kind in ("module", "state", "moved") and not use.on_accelerator for use in loading.uses
    )
    move = last_move(observations.moves, max([point.time, *(use.point.time for use in loading.uses)]))
    arguments = move.arguments if move is not None and not move.legacy else None
    device = device_for_move(observations, point, point.call_frame, arguments)
    device = None if device is not None and _is_foreign_constant(point, device) else device
    if any(use.kind == "needs-cpu" for use in loading.uses):
        return '"cpu"', ""
    if only_module_on_cpu:
        return '"cpu"', ""
    node = ast.parse(device, mode="eval").body if device is not None else None
    value = value_of(point, point.call_frame, node) if node is not None else None
    is_index = value is not None and any(map(is_number, alternatives(value)))
    if is_index and loading.uses and loading.uses[0].kind == "moved":
        return '"cpu"', ""  # the program may select this device on some machines only
    trees = (point.tree, *observations.trees)
    is_copied = bool(loading.uses) and all(use.kind in _COPYING for use in loading.uses)
    if is_copied and any(names_of(tree).names_from(_NOT_RESTORED) for tree in trees):
        return '"cpu"', ""
    if _holds_optimizers(loading) and any(use.kind in ("moved", "object") for use in loading.uses):
        return _where_saved(point)  # its state is not moved with the module
    is_unusable = device is not None and is_index and may_be_no_index(trees, device)
    if device is not None and not is_unusable:
        if is_index:
            return f'f"cuda:{{{device}}}"', ""
        is_open = may_be_index(trees, device)
        return (f"torch.device({device})" if is_open and "torch" in visible(point, point.call_frame) else device), ""
    if any(use.kind in ("tensor", "object") and use.on_accelerator for use in loading.uses):
        modules = module_names(point, point.call_frame, _modules_on_accelerator(loading))
        names = [name for name in modules if bound_at(point.call_frame, name.split(".")[0])]
        if names:
            return f"next({names[0]}.parameters()).device", ""
        return (
            None,
            "its tensors are used on the accelerator, but no device expression is available at the call",
        )
    if is_unusable and not is_copied:
        return None, f"`{device}` may be no index of an accelerator"
    is_used = any(use.kind in ("object", "kept") for use in loading.uses)
    if is_used and not is_copied and all(use.kind != "moved" for use in loading.uses):
        return _where_saved(point)
    return '"cpu"', ""


def _where_saved(point: ProgramPoint) -> tuple[str | None, str]:
    """Return that a checkpoint stays where it was saved, if this machine has CUDA, or why this cannot be said there."""
    return (_WHERE_SAVED, "") if "torch" in visible(point, point.call_frame) else (None, _STAYS)


def _holds_optimizers(loading: Loading) -> bool:
    """Return whether a program takes an optimizer itself from a checkpoint, and steps it or returns it."""
    statement, function = loading.point.call_frame.stmt, loading.point.call_frame.activation.node
    names = [text_of(target) for target in statement.targets] if isinstance(statement, ast.Assign) else []
    taken, used, filled = set[str](), set[str](), set[str]()
    for node in walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=owner, slice=key)):
                taken |= {name} if text_of(owner) in names and _OPTIMIZER in text_of(key) else set()
            case ast.Return(value=ast.expr() as value):
                used |= names_in(value)
            case ast.Attribute(value=ast.Name(id=name), attr="step" | "zero_grad" | "param_groups"):
                used.add(name)
            case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[ast.Name(id=name), *_]):
                filled.add(name)
    return not taken.isdisjoint(used - filled)


_OPTIMIZER = "optim"


def _is_foreign_constant(point: ProgramPoint, device: str) -> bool:
    """Return whether a function of a file reads a constant such as ``"cuda:3"``, which its importers need not use."""
    if isinstance(point.call_frame.activation.node, ast.Module):
        return False
    bound = [
        statement.value
        for statement in point.tree.tree.body
        if isinstance(statement, ast.Assign) and [getattr(each, "id", "") for each in statement.targets] == [device]
    ]
    index = (literal_device(bound[0]) or "").partition(":")[2] if len(bound) == 1 else ""
    return index not in ("", "0")


def _in_release(loading: Loading, target: str, release: tuple[int, int] | None) -> str | None:
    """Return a device as ``map_location`` in a release; ``None`` if it takes none that names the device.

    Before 0.4, it is a function of the storage; 0.4.0 takes texts, but no ``torch.device``.
    """
    if release is None or release > _TEXTS:
        return target
    only_fills = bool(loading.uses) and all(use.kind in ("module", "state", "optimizer") for use in loading.uses)
    if target == _WHERE_SAVED and release == _TEXTS:
        return target  # no device, or a text
    is_text = target[:1] in "\"'f" and target[-1:] in "\"'"
    if release == _TEXTS:
        return target if is_text else '"cpu"' if only_fills else f"str({target})"
    if target.strip("\"'") == "cpu" or only_fills:
        return "lambda storage, location: storage"
    index = _INDEXED.fullmatch(target)
    return f"lambda storage, location: storage.cuda({index[1]})" if index else None


def _modules_on_accelerator(loading: Loading) -> set[int]:
    state = loading.point.state
    assert state is not None
    return {
        key
        for key, obj in state.heap_objects()
        if isinstance(obj, Module) and ACCELERATOR in obj.devices and has_parameters(state, Pointer(key))
    }


def edit_of(loading: Loading, target: str) -> Edit:
    """Return an edit that adds ``map_location``, or replaces an argument such as ``None``."""
    tree, call = loading.point.tree, loading.call
    if len(call.args) > 1 and not isinstance(call.args[1], ast.Starred):
        return ReplaceExpression(tree.path, tree.span(call.args[1]), target)
    for keyword in call.keywords:
        if keyword.arg == "map_location":
            return ReplaceExpression(tree.path, tree.span(keyword.value), target)
    return AddKeyword(tree.path, tree.span(call), "map_location", target)


__getattr__, __dir__ = command_attributes(__name__)


_SETUP = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
"""

RULE = Rule(
    code="DEV301",
    name="load-without-map-location",
    summary="`torch.load` without `map_location` restores tensors to the device they were saved from.",
    documentation=__doc__,
    detect=detect,
    causes=("loaded-without-map-location", "rng-state-on-accelerator"),
    error_families=("same-device", "load", "rng-state", "absent"),
    invalid=(
        Example(
            "into a module on the device",
            _SETUP + 'model.to(device)\nmodel.load_state_dict(torch.load("model.pt"))\n',
            _SETUP + 'model.to(device)\nmodel.load_state_dict(torch.load("model.pt", map_location=device))\n',
        ),
        Example(
            "into a module that moves later",
            _SETUP + 'model.load_state_dict(torch.load("model.pt"))\nmodel.to(device)\n',
            _SETUP + 'model.load_state_dict(torch.load("model.pt", map_location="cpu"))\nmodel.to(device)\n',
        ),
    ),
    valid=(
        _SETUP + 'model.load_state_dict(torch.load("model.pt", map_location="cpu"))\n',
        _SETUP + 'model.load_state_dict(torch.load("model.pt", device))\n',
        _SETUP + "import io\n\nbuffer = io.BytesIO()\ntorch.save(model.state_dict(), buffer)\nbuffer.seek(0)\n"
        "model.load_state_dict(torch.load(buffer))\n",
    ),
)
