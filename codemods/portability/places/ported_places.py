"""The places of a file that require CUDA, with respect to the devices that it is to run on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from codemods.portability._guards import is_guarded
from codemods.portability._torch_names import (
    named,
    others_prepare_devices,
    prepares_devices,
    selects_devices,
    selects_devices_before,
    selects_devices_later,
)
from codemods.portability.places.accelerator_conditions import AcceleratorCondition, accelerator_conditions
from codemods.portability.places.cuda_place import CudaPlace, Kind
from codemods.portability.places.cuda_places import OWN_CUDA, named_places
from codemods.portability.places.loads import loads
from codemods.portability.places.typed_names import typed_names
from devfix.analysis import Observations
from devfix.syntax import project_flags
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.tree import SourceTree, walk

__all__ = ["ported_places"]

_TYPED_NAME = "a typed constructor is stored"
_ANOTHER = "another condition on CUDA stays in the file"
_SCRIPTED = "TorchScript compiles the function"
_EARLY = "the program selects devices or forks later, which must precede the first query for CUDA"


def ported_places(observations: Observations) -> list[CudaPlace]:
    """Return the places of the entry file that require CUDA, in order.

    Code under a condition on devices does not. If the file is to run on other accelerators, a condition on CUDA that
    keeps values on the CPU there is a place, too, and so are those under it.
    """
    tree = observations.trees[0]
    words = (
        "cuda",
        "pin_memory(",
        "get_device(",
        "device_ids",
        "SyncBatchNorm",
        "data_parallel(",
        ".to(",
        *project_flags.current().devices,
    )
    is_cpu_only = not observations.targets.others
    if not any(word in tree.text for word in words) and (is_cpu_only or not observations.scattered):
        return []
    named_ones = [
        _restricted(place, is_cpu_only=is_cpu_only, is_library=observations.is_library)
        for place in named_places(observations)
    ]
    typed = {} if is_cpu_only else typed_names(tree, is_library=observations.is_library)
    conditions = [] if is_cpu_only else _conditions(observations, named_ones, typed)
    opened = _opened(conditions)
    found = [place for condition in conditions for place in condition.places]
    for place in named_ones:
        if place.node in typed and not _is_neutral(tree, place.node, opened):
            found += typed[place.node]
            continue
        if _is_neutral(tree, place.node, opened):
            continue
        if is_cpu_only and _is_in_own_cuda(tree, place.node):
            continue  # its callers call it with CUDA only
        found.append(_known_under(tree, place, conditions))
    if any(not place.reason for place in found):
        found += [
            load
            for load in loads(tree)
            if not _is_neutral(tree, load.node, opened) and not _asks_early(load, is_library=observations.is_library)
        ]
    return sorted(found, key=lambda place: tree.span(place.node))


def _restricted(place: CudaPlace, *, is_cpu_only: bool, is_library: bool) -> CudaPlace:
    """Return a place with the reason why it is not ported, if there is one."""
    tree = place.tree
    if _is_scripted(tree, place.node):
        return replace(place, reason=_SCRIPTED)
    if place.kind in (Kind.CHOICE, Kind.FALLBACK, Kind.MOVE) and _is_early(place, is_library=is_library):
        return replace(place, reason=_EARLY)
    if place.kind in (Kind.CONDITION, Kind.TEST) and not is_cpu_only and place.is_ambiguous:
        return replace(place, reason=OWN_CUDA if isinstance(place.node, ast.Call) else _TYPED_NAME)
    return place


def _is_early(place: CudaPlace, *, is_library: bool) -> bool:
    """Return whether a device is only named, before the program selects the devices that are visible.

    It may do so in a statement below, or in another file, after it has imported this one.
    """
    tree, within = place.tree, (ast.IfExp, ast.Call, ast.Dict, ast.keyword)
    outer = next(each for each in tree.ancestors(place.node) if not isinstance(each, within))
    calls = [each for each in tree.ancestors(place.node) if isinstance(each, ast.Call)]
    is_named = all(named(tree, each.func) == "torch.device" or ast.unparse(each.func) == "dict" for each in calls)
    kinds = (ast.arguments,) if place.kind == Kind.MOVE else (ast.Assign, ast.AnnAssign, ast.arguments)
    if place.reason or not is_named or not isinstance(outer, kinds):
        return False
    return _asks_early(place, is_library=is_library) or (_is_setting(outer) and _another_prepares(place))


def _is_setting(stmt: ast.AST) -> bool:
    """Return whether an assignment keeps the device in what other files read: ``args.device = "cuda"``."""
    targets = stmt.targets if isinstance(stmt, ast.Assign) else []
    owners = [target.value for target in targets if isinstance(target, ast.Attribute)]
    return any(not (isinstance(owner, ast.Name) and owner.id == "self") for owner in owners)


def _another_prepares(place: CudaPlace) -> bool:
    """Return whether another file selects the visible devices, or forks, and this one has not selected them before."""
    tree = place.tree
    return not selects_devices_before(tree, place.node) and project_flags.current().preparing > prepares_devices(tree)


def _asks_early(place: CudaPlace, *, is_library: bool) -> bool:
    tree, functions = place.tree, (ast.FunctionDef, ast.AsyncFunctionDef)
    around = [each for each in tree.ancestors(place.node) if isinstance(each, functions)]
    is_default = any(isinstance(each, ast.arguments) for each in tree.ancestors(place.node))
    in_function = len(around) > is_default  # a default is evaluated outside of its function
    is_late = selects_devices_later(tree, place.node) and not is_default
    forks = not in_function and prepares_devices(tree) and not selects_devices(tree)
    return is_late or forks or (not in_function and others_prepare_devices(tree, is_library=is_library))


# --- conditions -----------------------------------------------------------------------------------------------------
def _conditions(
    observations: Observations, places: list[CudaPlace], typed: Mapping[ast.expr, list[CudaPlace]]
) -> list[AcceleratorCondition]:
    """Return the conditions on CUDA; one stays if a place under it depends on another condition that stays."""
    tree = observations.trees[0]
    found = accelerator_conditions(tree, places, typed, observations.trees, is_library=observations.is_library)
    while True:
        if any(each.reason and each.asks_for_any for each in found):  # half of a file would be on the CPU
            found = [each if each.reason or not each.asks_for_any else each.refused(_ANOTHER) for each in found]
        opened = _opened(found)
        kept = [
            each if each.reason or not (held := _held(tree, each, opened)) else each.refused(held) for each in found
        ]
        if kept == found:
            return kept
        found = kept


def _held(tree: SourceTree, condition: AcceleratorCondition, opened: Mapping[ast.expr, bool]) -> str:
    """Return why a condition stays: a place under it depends on another one; empty if none does."""
    for place in condition.inside:
        if _is_neutral(tree, place.node, opened):
            return f"the code under it stays, because of another condition: `{tree.source(place.node)}`"
    return ""


def _opened(conditions: Iterable[AcceleratorCondition]) -> dict[ast.expr, bool]:
    return {test: is_else for each in conditions if not each.reason for test, is_else in each.tests.items()}


def _known_under(tree: SourceTree, place: CudaPlace, conditions: Iterable[AcceleratorCondition]) -> CudaPlace:
    """Return a place with what the innermost condition around it tells about the device."""
    by_test = {test: each for each in conditions if not each.reason for test in each.tests}
    for outer in tree.ancestors(place.node):
        if isinstance(outer, (ast.If, ast.IfExp)) and (condition := by_test.get(outer.test)) is not None:
            value = condition.value
            is_free = value is not None and place.literal == "cuda" and not _may_move(outer, value)
            name = f"{tree.source(value)}.device" if value is not None and is_free else ""
            return replace(place, name=place.name or name, is_certain=True)
    return place


def _may_move(owner: ast.AST, value: ast.expr) -> bool:
    """Return whether a value may be elsewhere when code under a condition on it runs: ``if x.is_cuda: x = x.cpu()``."""
    names = {each.id for each in walk(value) if isinstance(each, ast.Name)}
    for node in walk(owner):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in names:
                return True
            case ast.Lambda() | ast.FunctionDef() | ast.ClassDef():
                return True
            case ast.Call(func=ast.Attribute(attr="cpu" | "to")):
                return True
    return False


def _is_neutral(tree: SourceTree, node: ast.expr, opened: Mapping[ast.expr, bool]) -> bool:
    """Return whether code runs with CUDA only; a comparison with a hard-coded device tells nothing."""
    tests = [outer.test for outer in tree.ancestors(node) if isinstance(outer, (ast.If, ast.IfExp))]
    if any(_compares_unequal(test) for test in tests):
        return False
    return is_guarded(tree, node, opened)


def _compares_unequal(test: ast.expr) -> bool:
    compared = [each for each in walk(test) if isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.NotEq)]
    return any(is_cuda_literal(each) for compare in compared for each in walk(compare))


# --- functions ------------------------------------------------------------------------------------------------------
def _is_scripted(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether TorchScript compiles the code, which has no query for CUDA."""
    functions = (outer for outer in tree.ancestors(node) if isinstance(outer, ast.FunctionDef))
    return any(named(tree, each).startswith("torch.jit.") for function in functions for each in function.decorator_list)


def _is_in_own_cuda(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether code is in a method ``cuda`` or ``pin_memory``, which loaders call with CUDA only."""
    return any(
        isinstance(outer, ast.FunctionDef)
        and outer.name in ("cuda", "pin_memory")
        and isinstance(tree.parents[outer], ast.ClassDef)
        for outer in tree.ancestors(node)
    )
