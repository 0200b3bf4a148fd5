"""``device_ids`` that name another accelerator than the one the module was moved to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Interpreter, Observations
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR
from devfix.analysis.observations.execution import ModuleWrapped
from devfix.analysis.scenarios import device_argument_of, literal_device
from devfix.analysis.torch.module_tree import weights_device
from devfix.fixes.vendored_code import foreign_part
from devfix.model import ReplaceExpression

__all__ = ["ParallelWrap", "conflicting_device_ids", "first_index", "note_wrap"]


@dataclass(frozen=True, eq=False)
class ParallelWrap:
    """A module on the accelerator that is wrapped in ``DataParallel`` with a literal list of device indices.

    Attributes:
        point: program point of the wrapping.
        call: the call of the wrapper.
        ids: the literal list.
        moved: program point at which the module was moved.
        latent: the program does not call this code.

    """

    point: ProgramPoint
    call: ast.Call
    ids: ast.List
    moved: ProgramPoint
    latent: bool = False


def note_wrap(interp: Interpreter, wrapped: ModuleWrapped) -> None:
    """Record a module on the accelerator that is wrapped with a literal list of device ids.

    The module must be on the device of the first id.
    """
    if weights_device(interp, wrapped.module) != ACCELERATOR:
        return
    node = wrapped.node
    ids = next((keyword.value for keyword in node.keywords if keyword.arg == "device_ids"), None)
    moved = interp.heap_object(wrapped.module).last_moved_at
    if isinstance(ids, ast.List) and ids.elts and moved is not None:
        point = interp.point(node, with_state=True)
        interp.observations.record(ParallelWrap(point, node, ids, moved, interp.latent), key=node)


def conflicting_device_ids(observations: Observations) -> Iterator[tuple[ParallelWrap, ReplaceExpression | None]]:
    """Yield modules on the first accelerator that are wrapped for others, each with its edit.

    The edit is ``None`` if several accelerators are named. Nothing is reported if ``cuda`` may mean another
    accelerator: the program configures an index, names several accelerators, or sets the current one.
    """
    if observations.sets_current_device or observations.has_fixed_index:
        return
    for wrapped in observations.of(ParallelWrap):
        index, tree = first_index(wrapped), wrapped.point.tree
        if not index or foreign_part(tree.path) or not _is_first_accelerator(observations, wrapped.moved.node):
            continue
        is_single = len(wrapped.ids.elts) == 1 and not _is_distributed(wrapped.call)
        yield wrapped, ReplaceExpression(tree.path, tree.span(wrapped.ids), "[0]") if is_single else None


def _is_distributed(call: ast.Call) -> bool:
    """Whether the wrapper is ``DistributedDataParallel``: its device depends on the process."""
    return ast.unparse(call.func).split(".")[-1] != "DataParallel"


def first_index(wrapped: ParallelWrap) -> int | None:
    """Return the index of the first device in ``device_ids``; ``None`` unless all are integer literals."""
    values = [node.value if isinstance(node, ast.Constant) else None for node in wrapped.ids.elts]
    ids = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return ids[0] if len(ids) == len(values) else None


def _is_first_accelerator(observations: Observations, move: ast.AST) -> bool:
    """Whether a move goes to the first accelerator: ``cuda`` without index, or the program's chosen device."""
    if not isinstance(move, ast.Call):
        return False
    device_argument = device_argument_of(move)
    if device_argument is None:
        return not move.args and not move.keywords
    named = literal_device(device_argument)
    return named in ("cuda", "cuda:0") if named is not None else _is_chosen(observations, move)


def _is_chosen(observations: Observations, move: ast.Call) -> bool:
    assignment = observations.device_assignments.get(move, {}).get(ACCELERATOR)
    return observations.checks_availability and not observations.has_configured_device and assignment is not None
