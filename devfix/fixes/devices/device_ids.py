"""``device_ids`` that name another accelerator than the one that the module was moved to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.values import ACCELERATOR
from devfix.analysis.move_observations import Wrapped
from devfix.analysis.scenarios import device_words, literal
from devfix.fixes.vendored_code import foreign_part
from devfix.model import ReplaceExpression

__all__ = ["first_index", "foreign_ids"]


def foreign_ids(observations: Observations) -> Iterator[tuple[Wrapped, ReplaceExpression | None]]:
    """Modules of the first accelerator that are wrapped for others, each with its edit: not where several are named.

    Nothing of a program that may mean another accelerator by ``cuda``: one that is told its index, names several, or
    says which is the current one.
    """
    if observations.current_device or observations.fixed_index:
        return
    for wrapped in observations.wrapped.values():
        index, tree = first_index(wrapped), wrapped.point.tree
        if not index or foreign_part(tree.path) or not _is_the_first(observations, wrapped.moved.node):
            continue
        alone = len(wrapped.ids.elts) == 1 and not _is_distributed(wrapped.call)
        yield wrapped, ReplaceExpression(tree.path, tree.span(wrapped.ids), "[0]") if alone else None


def _is_distributed(call: ast.Call) -> bool:
    """``DistributedDataParallel``: which process has which accelerator is more than this file says."""
    return ast.unparse(call.func).split(".")[-1] != "DataParallel"


def first_index(wrapped: Wrapped) -> int | None:
    """The accelerator that must hold the module, where all are named by number."""
    values = [node.value if isinstance(node, ast.Constant) else None for node in wrapped.ids.elts]
    ids = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return ids[0] if len(ids) == len(values) else None


def _is_the_first(observations: Observations, move: ast.AST) -> bool:
    """Whether a move goes to the first accelerator: it says ``cuda`` alone, or what the program chooses when asked."""
    if not isinstance(move, ast.Call):
        return False
    words = device_words(move)
    if words is None:
        return not move.args and not move.keywords
    named = literal(words)
    return named in ("cuda", "cuda:0") if named is not None else _is_chosen(observations, move)


def _is_chosen(observations: Observations, move: ast.Call) -> bool:
    placing = observations.device_assignments.get(move, {}).get(ACCELERATOR)
    return observations.asks_available and not observations.named_devices and placing is not None
