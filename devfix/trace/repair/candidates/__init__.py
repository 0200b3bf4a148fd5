"""The edits that an expert would try for a failure, in the order in which they would be tried.

Each candidate is a guess: :mod:`devfix.trace.repair.search` runs it before it is believed.
"""

from __future__ import annotations

from collections.abc import Iterator

from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates import hosts, modules, optimizers, tensors, valueless
from devfix.trace.repair.candidates._candidate import Candidate
from devfix.trace.repair.edited_sources import Texts

__all__ = ["Candidate", "candidates"]


def candidates(diagnosis: Diagnosis, texts: Texts) -> list[Candidate]:
    """The candidates for one failure, the best first, each once."""
    found: dict[frozenset[object], Candidate] = {}
    for candidate in filter(lambda each: each.edits, _all(diagnosis, texts)):
        found.setdefault(frozenset(candidate.edits), candidate)
    return list(found.values())


def _all(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    if diagnosis.story.family in valueless.FAMILIES:
        yield from valueless.without_values(diagnosis, texts)
        return
    if diagnosis.peer is None and not diagnosis.culprit.on_cpu:
        yield from hosts.brought_home(diagnosis, texts)
        return
    if diagnosis.peer is not None and not diagnosis.culprit.on_cpu and diagnosis.peer.on_cpu:
        yield from tensors.left_where_it_was(diagnosis, texts)
    yield from modules.moved(diagnosis, texts)
    yield from optimizers.moved(diagnosis, texts)
    yield from tensors.moved(diagnosis, texts)
    yield from optimizers.brought_along(diagnosis, texts)
