"""Candidate edits for a failure, in the order in which they are tried.

In: a :class:`~devfix.trace.diagnosis.diagnose.Diagnosis` and the program's
:class:`~devfix.trace.repair.edited_sources.EditedSources`.  Out: a list of :class:`Candidate`; each is a guess, which
:mod:`devfix.trace.repair.search` runs.

May import model, syntax, fixes, sources, verify and ``devfix.trace.diagnosis``.
"""

from __future__ import annotations

from collections.abc import Iterator

from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates import hosts, modules, optimizers, tensors, valueless
from devfix.trace.repair.candidates._candidate import Candidate
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["Candidate", "candidates"]


def candidates(diagnosis: Diagnosis, edited: EditedSources) -> list[Candidate]:
    """Return the candidates for a failure, the best first, without duplicates."""
    found: dict[frozenset[object], Candidate] = {}
    for candidate in filter(lambda each: each.edits, _all(diagnosis, edited)):
        found.setdefault(frozenset(candidate.edits), candidate)
    return list(found.values())


def _all(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    if diagnosis.failure.family in valueless.FAMILIES:
        yield from valueless.without_values(diagnosis, edited)
        return
    if diagnosis.peer is None and not diagnosis.misplaced.on_cpu:
        yield from hosts.cpu_moves(diagnosis, edited)
        return
    if diagnosis.peer is not None and not diagnosis.misplaced.on_cpu and diagnosis.peer.on_cpu:
        yield from tensors.undo_move(diagnosis, edited)
    yield from modules.moves(diagnosis, edited)
    yield from optimizers.moves(diagnosis, edited)
    yield from tensors.moves(diagnosis, edited)
    yield from optimizers.state_moves(diagnosis, edited)
