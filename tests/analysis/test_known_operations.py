"""Programs that call each function of PyTorch with operands on two devices: each failing line is reported.

The simulator has confirmed the programs. ``python -m benchmarks.knowledge --examples tests/data/operations.jsonl``
makes them from the operator database of PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.knowledge.examples import Confirmed, Placement
from benchmarks.knowledge.recording import loads
from devfix import analysis

DATA = Path(__file__).parents[1] / "data"
RECORDED = loads((DATA / "operations.jsonl").read_text(encoding="utf-8"))
GROUPS = list(dict.fromkeys(each.example.group for each in RECORDED))

#: Functions that are not known yet, as lines ``group: name``.  A function that becomes known must leave the list.
UNKNOWN = set((DATA / "unknown_operations.txt").read_text(encoding="utf-8").splitlines())


def _reported_lines(program: str) -> set[int]:
    observations = analysis.analyse("/p/train.py", {"/p/train.py": program}.get, "/p")
    assert observations is not None
    mismatches = {mismatch.point.span.line for mismatch in observations.mismatches}
    return mismatches | {line for _, line, _ in observations.host_accesses}


def _of(group: str) -> Iterable[Confirmed]:
    return (each for each in RECORDED if each.example.group == group)


def _is_known(confirmed: Confirmed) -> bool:
    return all(_fails_on_its_last_line(confirmed, placement) for placement in confirmed.broken)


def _fails_on_its_last_line(confirmed: Confirmed, placement: Placement) -> bool:
    program = confirmed.example.program(placement)
    return program.count("\n") in _reported_lines(program)


@pytest.mark.parametrize("group", GROUPS)
def test_a_mismatch_is_reported_on_the_line_that_fails(group: str) -> None:
    unknown = {f"{group}: {confirmed.example.name}" for confirmed in _of(group) if not _is_known(confirmed)}
    assert unknown == {line for line in UNKNOWN if line.startswith(f"{group}: ")}


def test_every_unknown_function_is_recorded() -> None:
    assert {f"{each.example.group}: {each.example.name}" for each in RECORDED} >= UNKNOWN


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_is_reported_in_a_program_that_runs(group: str) -> None:
    programs = [
        confirmed.example.program(placement)
        for confirmed in _of(group)
        for placement in (confirmed.repaired, *confirmed.mixed)
    ]
    assert [program for program in programs if _reported_lines(program)] == []


def test_what_is_written_to_is_the_result(met):
    program = """
        from settings import batch
        table = nn.Embedding(5, 3).cuda()
        positions = batch.new(4).long()
        table(torch.arange(4, out=positions))
        here, there = torch.ones(4), torch.ones(4).cuda()
        torch.arange(4, out=here) + there
        torch.arange(4, out=there) + there
        """

    assert met(program) == ["torch.arange(4, out=here) + there"]
