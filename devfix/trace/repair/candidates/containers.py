"""Candidates that move all that a container holds, with the culprit in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Where
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._around import MOST_FRAMES, binding_loop, moves_before
from devfix.trace.repair.candidates._candidate import Candidate, Spot, inserted, names_in, trailers, usable
from devfix.trace.repair.edited_sources import Texts

__all__ = ["rows", "whole_containers"]

#: ``targets[0]["boxes"]``: a list (or tuple) of dictionaries.
_IN_ROWS = re.compile(r"(?P<outer>[A-Za-z_][\w.]*)\[\d+\]\[\"[^\"]*\"\]")


def rows(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """A list of dictionaries, whole: beside the moves of its function, where it is bound, or ahead of the use."""
    for number in reversed(range(min(len(diagnosis.story.frames), MOST_FRAMES))):
        position = diagnosis.story.frames[number]
        found = texts.node_at(position)
        for name in names_in(diagnosis.culprit, number) if found is not None else ():
            held = _IN_ROWS.fullmatch(name.text)
            if held is None or found is None:
                continue
            spot, outer = Spot(*found, position), held["outer"]
            for statement, trailer in moves_before(spot):
                for code in _moved_rows(spot, outer, trailer):
                    if usable(spot, statement, outer):
                        yield inserted(spot, statement, Where.AFTER, code)
            loop = binding_loop(spot, outer)
            for trailer in trailers(diagnosis, spot):
                for code in _moved_rows(spot, outer, trailer):
                    if loop is not None:
                        yield inserted(spot, loop, Where.BODY_START, code)
                    else:
                        yield inserted(spot, spot.statement, Where.BEFORE, code)


def _moved_rows(spot: Spot, outer: str, trailer: str) -> Iterator[str]:
    """All values of all rows; then those that are tensors, for there may be numbers and names among them."""
    yield f"{outer} = [{{key: value{trailer} for key, value in row.items()}} for row in {outer}]"
    if usable(spot, spot.node, "torch"):
        moved = f"value{trailer} if torch.is_tensor(value) else value"
        yield f"{outer} = [{{key: {moved} for key, value in row.items()}} for row in {outer}]"


def whole_containers(diagnosis: Diagnosis, texts: Texts, numbered: bool = False) -> Iterator[Candidate]:
    """The dictionary, list or tuple that holds it, whole: in its class's own ``to``, else ahead of the use.

    With ``numbered`` only lists and tuples.
    """
    for number, position in enumerate(diagnosis.story.frames[:MOST_FRAMES]):
        found = texts.node_at(position)
        for name in names_in(diagnosis.culprit, number) if found is not None else ():
            held = re.fullmatch(r"(?P<base>.*\w)\[(?P<key>[^\[\]]*)\]", name.text)
            if held is None or found is None or (numbered and not held["key"].isdecimal()):
                continue
            spot = Spot(*found, position)
            yield from _in_own_mover(spot, held["base"], held["key"])
            for trailer in trailers(diagnosis, spot):
                for code in _moved_container(held["base"], held["key"], trailer):
                    yield inserted(spot, spot.statement, Where.BEFORE, code)


def _moved_container(base: str, key: str, trailer: str) -> Iterator[str]:
    if key.startswith('"'):
        yield f"{base} = {{key: value{trailer} for key, value in {base}.items()}}"
    else:
        yield f"{base} = tuple(value{trailer} for value in {base})"
        yield f"{base} = [value{trailer} for value in {base}]"


def _in_own_mover(spot: Spot, base: str, key: str) -> Iterator[Candidate]:
    """In the method ``to`` of the class whose attribute the container is."""
    owner = next((each for each in spot.tree.ancestors(spot.node) if isinstance(each, ast.ClassDef)), None)
    for method in owner.body if owner is not None and base.startswith("self.") else ():
        if isinstance(method, ast.FunctionDef) and method.name == "to" and len(method.args.args) == 2:
            at = Spot(spot.tree, method.body[-1], spot.position)
            for code in _moved_container(base, key, f".to({method.args.args[1].arg})"):
                yield inserted(at, at.statement, Where.BEFORE, code)
