"""Candidates for the state of optimizers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import MoveStatements, Where
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import Candidate, Spot, inserted, outside_loops
from devfix.trace.repair.edited_sources import Texts

__all__ = ["brought_along", "moved"]

#: A step that is counted in a tensor of one number stays where it is: it may be on the CPU.
#: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
_STATE_MOVE = """\
for parameter, state in {optimizer}.state.items():
    for key, value in state.items():
        if torch.is_tensor(value) and value.dim():
            state[key] = value.to(parameter.device)"""


def moved(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """Load the state after the model's move, or bring it to the parameters."""
    state = next((name for name in diagnosis.culprit.names if name.kind == "state"), None)
    if state is None:
        return
    optimizer = state.text.split(".state[")[0]
    for move in _moves(diagnosis, texts):
        yield from _behind(move, optimizer)
    for position in diagnosis.story.frames:
        tree = texts.tree(position.file)
        for node in ast.walk(tree.tree) if tree is not None else ():
            if tree is not None and isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".load_state_dict"):
                assert isinstance(node.func, ast.Attribute)
                receiver = tree.source(node.func.value)
                if receiver.split(".")[-1] == optimizer.split(".")[-1]:
                    spot = Spot(tree, node, position)
                    yield inserted(spot, spot.statement, Where.AFTER, _STATE_MOVE.format(optimizer=receiver))


def brought_along(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """The state follows its parameters: behind their move, else ahead of the loop that makes the steps."""
    moves = list(_moves(diagnosis, texts))
    for name in diagnosis.culprit.names:
        if name.kind != "state":
            continue
        position = diagnosis.story.frames[name.frame]
        code = _STATE_MOVE.format(optimizer=name.text.split(".state[")[0])
        found = texts.node_at(position)
        if found is None:
            continue
        spot = Spot(*found, position)
        for move in moves:
            if (move.position.file, move.position.function) == (position.file, position.function):
                yield inserted(spot, move.statement, Where.AFTER, code)
        yield inserted(spot, outside_loops(spot, name.text), Where.BEFORE, code)


def _moves(diagnosis: Diagnosis, texts: Texts) -> Iterator[Spot]:
    """The last moves of the modules whose parameters met the state."""
    for value in diagnosis.story.values:
        for event in value.history:
            last = event.owner.last_move if event.owner is not None else None
            for position in last.chain if last is not None else ():
                found = texts.node_at(position)
                if found is not None:
                    yield Spot(*found, position)


def _behind(move: Spot, optimizer: str) -> Iterator[Candidate]:
    """The statements that make and load the optimizer, behind the move of the same block."""
    _, block, index = move.tree.block(move.statement)
    short = optimizer.split(".")[-1]
    earlier = [each for each in block[:index] if _is_about(each, short)]
    if earlier:
        spans = tuple(move.tree.span(each) for each in earlier)
        edit = MoveStatements(move.tree.path, spans, move.tree.span(move.statement))
        yield Candidate(f"move `{short}` behind the move of the model", (edit,))


def _is_about(statement: ast.stmt, optimizer: str) -> bool:
    return isinstance(statement, (ast.Assign, ast.Expr, ast.If)) and any(
        (isinstance(node, ast.Name) and node.id == optimizer)
        or (isinstance(node, ast.Attribute) and node.attr == optimizer)
        for node in ast.walk(statement)
    )
