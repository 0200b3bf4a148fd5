"""Candidates that move all tensors of the container that holds the misplaced value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Where
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._around import MAX_FRAMES, binding_loop, moves_before
from devfix.trace.repair.candidates._candidate import (
    Candidate,
    SourceLocation,
    insert_statement,
    is_in_scope,
    move_suffixes,
    names_in_frame,
)
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["container_moves", "list_of_dict_moves"]

#: ``targets[0]["boxes"]``: a list (or tuple) of dictionaries.
_IN_LIST_OF_DICTS = re.compile(r"(?P<outer>[A-Za-z_][\w.]*)\[\d+\]\[\"[^\"]*\"\]")


def list_of_dict_moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield moves of a list of dictionaries: beside other moves, where the list is bound, or before its use."""
    for number in reversed(range(min(len(diagnosis.failure.frames), MAX_FRAMES))):
        position = diagnosis.failure.frames[number]
        found = edited.node_at(position)
        for name in names_in_frame(diagnosis.misplaced, number) if found is not None else ():
            match = _IN_LIST_OF_DICTS.fullmatch(name.text)
            if match is None or found is None:
                continue
            location, outer = SourceLocation(*found, position), match["outer"]
            for statement, suffix in moves_before(location):
                for code in _moved_dicts(location, outer, suffix):
                    if is_in_scope(location, statement, outer):
                        yield insert_statement(location, statement, Where.AFTER, code)
            loop = binding_loop(location, outer)
            for suffix in move_suffixes(diagnosis, location):
                for code in _moved_dicts(location, outer, suffix):
                    if loop is not None:
                        yield insert_statement(location, loop, Where.BODY_START, code)
                    else:
                        yield insert_statement(location, location.statement, Where.BEFORE, code)


def _moved_dicts(location: SourceLocation, outer: str, suffix: str) -> Iterator[str]:
    """Yield the list with all values moved; then with only tensors moved, because values may be numbers or strings."""
    yield f"{outer} = [{{key: value{suffix} for key, value in row.items()}} for row in {outer}]"
    if is_in_scope(location, location.node, "torch"):
        moved = f"value{suffix} if torch.is_tensor(value) else value"
        yield f"{outer} = [{{key: {moved} for key, value in row.items()}} for row in {outer}]"


def container_moves(diagnosis: Diagnosis, edited: EditedSources, sequences_only: bool = False) -> Iterator[Candidate]:
    """Yield moves of the dictionary, list or tuple that holds the misplaced value.

    The move goes into the ``to`` method of its class, or before the use.  With ``sequences_only``, only lists and
    tuples are moved.
    """
    for number, position in enumerate(diagnosis.failure.frames[:MAX_FRAMES]):
        found = edited.node_at(position)
        for name in names_in_frame(diagnosis.misplaced, number) if found is not None else ():
            match = re.fullmatch(r"(?P<base>.*\w)\[(?P<key>[^\[\]]*)\]", name.text)
            if match is None or found is None or (sequences_only and not match["key"].isdecimal()):
                continue
            location = SourceLocation(*found, position)
            yield from _in_to_method(location, match["base"], match["key"])
            for suffix in move_suffixes(diagnosis, location):
                for code in _moved_container(match["base"], match["key"], suffix):
                    yield insert_statement(location, location.statement, Where.BEFORE, code)


def _moved_container(base: str, key: str, suffix: str) -> Iterator[str]:
    if key.startswith('"'):
        yield f"{base} = {{key: value{suffix} for key, value in {base}.items()}}"
    else:
        yield f"{base} = tuple(value{suffix} for value in {base})"
        yield f"{base} = [value{suffix} for value in {base}]"


def _in_to_method(location: SourceLocation, base: str, key: str) -> Iterator[Candidate]:
    """Yield the move in the method ``to`` of the class whose attribute the container is."""
    owner = next((each for each in location.tree.ancestors(location.node) if isinstance(each, ast.ClassDef)), None)
    for method in owner.body if owner is not None and base.startswith("self.") else ():
        if isinstance(method, ast.FunctionDef) and method.name == "to" and len(method.args.args) == 2:
            last = SourceLocation(location.tree, method.body[-1], location.position)
            for code in _moved_container(base, key, f".to({method.args.args[1].arg})"):
                yield insert_statement(last, last.statement, Where.BEFORE, code)
