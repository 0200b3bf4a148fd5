"""What stands around a spot: the loops, the moves ahead of it, and the names that can be given a value there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.fixes.syntax_scope import movers
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import Value
from devfix.trace.repair.candidates._candidate import Spot, names_in, spots_of
from devfix.trace.repair.edited_sources import Texts

__all__ = ["LOOPS", "MOST_FRAMES", "assignable", "binding_loop", "comes_from_loader", "moves_before"]

LOOPS = (ast.For, ast.AsyncFor)

#: How many of the frames of a failure, from the deepest on, are looked at.
MOST_FRAMES = 4


def comes_from_loader(diagnosis: Diagnosis, texts: Texts) -> bool:
    """Whether a data loader, or a ``for`` statement that asked for data, made the culprit."""
    for event in diagnosis.culprit.history:
        if event.from_loader or any(spot.in_loader or isinstance(spot.node, LOOPS) for spot in spots_of(event, texts)):
            return True
    return False


def moves_before(spot: Spot) -> Iterator[tuple[ast.stmt, str]]:
    """Assignments of the spot's function that move what they assign, ahead of it, the last first; with the trailer."""
    found: dict[ast.stmt, str] = {}
    for call in movers(spot.tree, spot.node):
        statement = spot.tree.statement(call)
        if not isinstance(statement, ast.Assign) or statement.lineno >= spot.statement.lineno:
            continue
        assert isinstance(call.func, ast.Attribute)
        targets = [t for target in statement.targets for t in getattr(target, "elts", [target])]
        if ast.unparse(call.func.value) in [ast.unparse(target) for target in targets]:
            found[statement] = spot.tree.source(call).removeprefix(spot.tree.source(call.func.value))
    yield from sorted(found.items(), key=lambda item: -item[0].lineno)


def assignable(value: Value, frame: int) -> list[str]:
    plain = [name.text for name in names_in(value, frame) if name.kind == "tensor" and not _is_private(name.text)]
    return [text for text in plain if re.fullmatch(r"[A-Za-z_]\w*(\.\w+|\[(\d+|\"[^\"]*\")\])*", text)][:2]


def _is_private(text: str) -> bool:
    """Whether a name reaches into an object of others."""
    return re.search(r"\._", text.removeprefix("self._").removeprefix("cls._")) is not None


def binding_loop(spot: Spot, name: str) -> ast.stmt | None:
    """The loop around the spot whose target binds the name."""
    root = re.split(r"[.\[]", name)[0]
    for parent in spot.tree.ancestors(spot.node):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        if isinstance(parent, LOOPS):
            bound = {each.id for each in ast.walk(parent.target) if isinstance(each, ast.Name)}
            if root in bound:
                return parent
    return None
