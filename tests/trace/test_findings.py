"""What a run showed, in the words of all reports."""

from __future__ import annotations

import dataclasses

import pytest

from devfix.model import AppendCode, Event, Finding, Outcome, Resolution, Severity, Span, Status
from devfix.trace.diagnosis.context import Cause
from devfix.trace.failure_trace import Package, Position
from devfix.trace.findings import finding_of, with_traced
from devfix.trace.repair.candidates import Candidate
from devfix.trace.repair.edited_sources import EditedSources
from devfix.verify.project import Project


@pytest.fixture
def told(program):
    return program("import torch\nx = torch.ones(3).cuda()\ny = torch.zeros(3)\nz = x + y\n")


@pytest.fixture
def project(told):
    return Project(told.root, "train.py", ".")


def failure(told, **more):
    misplaced = told.value("y", told.made("torch.zeros(3)", **more))
    return told.failure(misplaced, told.value("x", device="cuda:0"), told.at("x + y"))


def test_a_finding_has_rule_name_place_and_story(told, project, monkeypatch):
    monkeypatch.chdir(told.root)

    found = finding_of(failure(told), project, told.edited)

    assert (found.code, found.name, found.severity) == ("DEV102", "tensor-without-device", Severity.ERROR)
    assert (found.path, found.span, found.message) == ("train.py", Span(3, 4, 3, 18), "It is on the CPU.")
    assert [(event.kind, event.line, event.source, event.note) for event in found.events] == [
        ("created", 3, "y = torch.zeros(3)", "it is created here, on cpu"),
        ("used", 4, "z = x + y", "it is used with a value on cuda:0 here"),
    ]
    assert found.notes == ("found by running the script",)
    assert found.fixes == ()


def test_columns_count_code_points(program, project):
    told = program('naïve = "é"; y = torch.zeros(3)\nx = torch.ones(3)\nz = x + y\n')

    assert finding_of(failure(told), project, told.edited).span == Span(1, 17, 1, 31)


def test_a_cause_without_a_rule_is_named_so(told, project):
    found = finding_of(
        dataclasses.replace(failure(told), cause=Cause("unclassified", "It is on the CPU.")), project, told.edited
    )

    assert (found.code, found.name) == ("DEV000", "traced-cause")


def test_what_the_cpu_is_needed_for(told, project):
    alone = dataclasses.replace(failure(told), peer=None)
    away = dataclasses.replace(alone, misplaced=dataclasses.replace(alone.misplaced, device="cuda:0"))

    assert finding_of(away, project, told.edited).events[-1].note == "an operation requires it on the CPU here"
    assert finding_of(alone, project, told.edited).events[-1].note == "an operation requires it on the accelerator here"


def test_a_package_is_named_with_its_line(told, project):
    inside = Position("/env/site-packages/losses/ntxent.py", 14, "make", "far = torch.ones(3)")

    found = finding_of(failure(told, package=Package("losses", "0.3.0", inside)), project, told.edited)

    assert found.events[0].note == "losses 0.3.0 called from here created it, on cpu: losses/ntxent.py:14"


def test_a_remedy_names_files_as_seen_from_here_and_that_a_run_found_it(told, project, monkeypatch):
    (told.root / "below").mkdir()
    monkeypatch.chdir(told.root / "below")
    edit = AppendCode("train.py", Span(3, 4, 3, 18), ".cuda()")

    found = finding_of(failure(told), project, told.edited, Candidate("move it", (edit,)))

    (fix,) = found.fixes
    assert fix.title == "move it (found by running the script)"
    assert fix.paths == (str(told.root / "train.py"),)
    assert found.path == str(told.root / "train.py")
    assert found.notes == ()


def test_lines_are_those_of_the_file_on_the_disk(told, project):
    patched = EditedSources(told.root, {"train.py": f"import os\n{told.text}".encode()})
    diagnosis = failure(told)
    moved = {"file": "train.py", "function": "<module>"}
    origin = dataclasses.replace(
        diagnosis.origin, stack=(Position(line=4, code="y = torch.zeros(3)", span=(4, 4, 4, 18), **moved),)
    )

    found = finding_of(dataclasses.replace(diagnosis, origin=origin), project, patched)

    assert found.span == Span(3, 4, 3, 18)


def finding(line, code="DEV102"):
    events = (Event("created", "train.py", line, 0, "", ""), Event("used", "train.py", 4, 0, "", ""))
    return Finding(code, "name", Severity.ERROR, "train.py", Span(line, 0, line, 1), code, events)


def test_what_a_run_showed_takes_the_place_of_what_reading_left(told):
    left = Resolution(finding(3), Status.NOT_FIXED, "nobody knows")
    fixed = Resolution(finding(3, "DEV101"), Status.FIXED)
    elsewhere = Resolution(
        dataclasses.replace(finding(9), events=(Event("used", "train.py", 9, 0, "", ""),)), Status.NOT_FIXED
    )
    traced = Resolution(finding(3, "DEV202"), Status.FIXED)

    found = with_traced(Outcome((left, fixed, elsewhere)), [traced])

    assert found.resolutions == (fixed, traced, elsewhere)
