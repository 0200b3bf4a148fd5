"""The surroundings of a location: enclosing loops, preceding moves, and names that can be rebound."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.fixes.syntax_scope import movers
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import Value
from devfix.trace.repair.candidates._candidate import SourceLocation, locations_of, names_in_frame
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["LOOPS", "MAX_FRAMES", "assignable_names", "binding_loop", "comes_from_loader", "moves_before"]

LOOPS = (ast.For, ast.AsyncFor)

#: Number of frames of a failure to consider, from the deepest on.
MAX_FRAMES = 4


def comes_from_loader(diagnosis: Diagnosis, edited: EditedSources) -> bool:
    """Return whether the misplaced value came from a data loader, or from the data of a ``for`` statement."""
    for event in diagnosis.misplaced.history:
        if event.from_loader or any(
            location.in_loader or isinstance(location.node, LOOPS) for location in locations_of(event, edited)
        ):
            return True
    return False


def moves_before(location: SourceLocation) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the preceding assignments that move their own target, the last first, with the move's suffix."""
    found: dict[ast.stmt, str] = {}
    for call in movers(location.tree, location.node):
        statement = location.tree.statement(call)
        if not isinstance(statement, ast.Assign) or statement.lineno >= location.statement.lineno:
            continue
        assert isinstance(call.func, ast.Attribute)
        targets = [t for target in statement.targets for t in getattr(target, "elts", [target])]
        if ast.unparse(call.func.value) in [ast.unparse(target) for target in targets]:
            found[statement] = location.tree.source(call).removeprefix(location.tree.source(call.func.value))
    yield from sorted(found.items(), key=lambda item: -item[0].lineno)


def assignable_names(value: Value, frame: int) -> list[str]:
    """Return at most two names of a tensor that an assignment can rebind."""
    names = [name.text for name in names_in_frame(value, frame) if name.kind == "tensor" and not _is_private(name.text)]
    return [text for text in names if re.fullmatch(r"[A-Za-z_]\w*(\.\w+|\[(\d+|\"[^\"]*\")\])*", text)][:2]


def _is_private(text: str) -> bool:
    """Return whether a name accesses a private attribute of another object."""
    return re.search(r"\._", text.removeprefix("self._").removeprefix("cls._")) is not None


def binding_loop(location: SourceLocation, name: str) -> ast.stmt | None:
    """Return the loop around the location whose target binds the name."""
    root = re.split(r"[.\[]", name)[0]
    for parent in location.tree.ancestors(location.node):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        if isinstance(parent, LOOPS):
            bound = {each.id for each in ast.walk(parent.target) if isinstance(each, ast.Name)}
            if root in bound:
                return parent
    return None
