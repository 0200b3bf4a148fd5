"""Candidates for the state of optimizers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import MoveStatements, Where
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import Candidate, SourceLocation, hoist_out_of_loops, insert_statement
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["moves", "state_moves"]

#: A zero-dimensional step counter is not moved: it may be on the CPU.
#: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
_STATE_MOVE = """\
for parameter, state in {optimizer}.state.items():
    for key, value in state.items():
        if torch.is_tensor(value) and value.dim():
            state[key] = value.to(parameter.device)"""


def moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield candidates that load the state after the model's move, or move the state to its parameters."""
    state = next((name for name in diagnosis.misplaced.names if name.kind == "state"), None)
    if state is None:
        return
    optimizer = state.text.split(".state[")[0]
    for move in _parameter_moves(diagnosis, edited):
        yield from _build_after_move(move, optimizer)
    for position in diagnosis.failure.frames:
        tree = edited.tree(position.file)
        for node in ast.walk(tree.tree) if tree is not None else ():
            if tree is not None and isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".load_state_dict"):
                assert isinstance(node.func, ast.Attribute)
                receiver = tree.source(node.func.value)
                if receiver.split(".")[-1] == optimizer.split(".")[-1]:
                    location = SourceLocation(tree, node, position)
                    yield insert_statement(
                        location, location.statement, Where.AFTER, _STATE_MOVE.format(optimizer=receiver)
                    )


def state_moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield moves of the state to its parameters: after their move, else before the training loop."""
    parameter_moves = list(_parameter_moves(diagnosis, edited))
    for name in diagnosis.misplaced.names:
        if name.kind != "state":
            continue
        position = diagnosis.failure.frames[name.frame]
        code = _STATE_MOVE.format(optimizer=name.text.split(".state[")[0])
        found = edited.node_at(position)
        if found is None:
            continue
        location = SourceLocation(*found, position)
        for move in parameter_moves:
            if (move.position.file, move.position.function) == (position.file, position.function):
                yield insert_statement(location, move.statement, Where.AFTER, code)
        yield insert_statement(location, hoist_out_of_loops(location, name.text), Where.BEFORE, code)


def _parameter_moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[SourceLocation]:
    """Yield the last moves of the modules whose parameters conflict with the state."""
    for value in diagnosis.failure.values:
        for event in value.history:
            last = event.owner.last_move if event.owner is not None else None
            for position in last.stack if last is not None else ():
                found = edited.node_at(position)
                if found is not None:
                    yield SourceLocation(*found, position)


def _build_after_move(move: SourceLocation, optimizer: str) -> Iterator[Candidate]:
    """Yield the construction and loading of the optimizer after the move in the same block."""
    _, block, index = move.tree.block(move.statement)
    short = optimizer.split(".")[-1]
    earlier = [each for each in block[:index] if _mentions(each, short)]
    if earlier:
        spans = tuple(move.tree.span(each) for each in earlier)
        edit = MoveStatements(move.tree.path, spans, move.tree.span(move.statement))
        yield Candidate(f"move `{short}` after the move of the model", (edit,))


def _mentions(statement: ast.stmt, optimizer: str) -> bool:
    return isinstance(statement, (ast.Assign, ast.Expr, ast.If)) and any(
        (isinstance(node, ast.Name) and node.id == optimizer)
        or (isinstance(node, ast.Attribute) and node.attr == optimizer)
        for node in ast.walk(statement)
    )
