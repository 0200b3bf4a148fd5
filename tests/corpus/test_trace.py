"""Programs that only a run explains: each fails as its case.toml tells, and its repaired twin trains the same.

``nox -s trace`` runs every program; the ordinary suite a sample of them (``SAMPLE``).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from email.parser import HeaderParser
from pathlib import Path

import pytest

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.rules.registry import all_rules, rule_for

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest.importorskip("torch")

CORPUS = Path(__file__).parents[2] / "corpus"
META = {
    path.parent.relative_to(CORPUS).as_posix(): tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((CORPUS / "trace").rglob("case.toml"))
}
STORIES = [name for name in META if name.startswith("trace/stories/")]
BY_RUN = [name for name in META if name not in STORIES]
REPAIRED = [name for name, meta in META.items() if meta["kind"] == "broken"]
FOREIGN = [name for name, meta in META.items() if "package" in meta["trace"]]
SAMPLE = {
    "trace/adapters_by_setattr_walk",
    "trace/cache_given_a_closure",
    "trace/mover_makes_new_parameters",
    "trace/package_ignores_its_device",
    "trace/package_rotary_table",
    "trace/plugin_run_by_runpy",
    "trace/stories/prototypes_from_a_checkpoint",
}
RUN = list(META) if os.environ.get("DEVFIX_ALL_TRACE") else sorted(SAMPLE)
FACTS = {"born": str, "met": str, "name": str, "cause": str, "rule": str}
MORE_FACTS = {"also": list, "moved": str}
ABOUT_THE_CASE = {"outcome": str, "package": str, "second": dict}
RULES = {rule.code for rule in all_rules()} | {"DEV000"}


def load_verdicts():
    spec = importlib.util.spec_from_file_location("corpus_verdicts", CORPUS / "verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    before = list(sys.path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # it looks for its siblings on sys.path
    sys.path[:] = before
    return module


def told(name):
    """The tables of facts of a case: one for each bug, in the order in which they show."""
    trace = META[name]["trace"]
    return [trace, trace["second"]] if "second" in trace else [trace]


def line_at(name, place):
    """The text of ``file:line``; a case with packages names files of theirs in the same way."""
    file, _, number = place.rpartition(":")
    folders = ["broken", *META[name].get("path", ())]
    (path,) = [path for path in (CORPUS / name / folder / file for folder in folders) if path.is_file()]
    return path.read_text(encoding="utf-8").splitlines()[int(number) - 1]


def static(tree):
    files = [sources.read(str(path)) for path in sorted(tree.rglob("*.py"))]
    return fixpoint.apply(files, Settings(root=str(tree)))


# --- what case.toml tells ---------------------------------------------------------------------------------------------
def test_there_are_enough_programs_to_measure_with():
    assert len(BY_RUN) - len(FOREIGN) >= 26
    assert len(FOREIGN) == 6
    assert sum(META[name]["trace"]["outcome"] == "reported" for name in FOREIGN) == 3
    assert len(STORIES) >= 14
    assert sum("second" in META[name]["trace"] for name in BY_RUN) == 5
    assert sum(META[name]["error"] == "silent" for name in META) <= 3


@pytest.mark.parametrize("name", META)
def test_the_facts_are_all_there_and_no_others(name):
    meta = META[name]
    needed = FACTS if meta["error"] != "silent" else {key: FACTS[key] for key in FACTS if key != "met"}
    for facts in told(name):
        assert needed.keys() <= facts.keys() <= (FACTS | MORE_FACTS | ABOUT_THE_CASE).keys()
        assert all(isinstance(value, (FACTS | MORE_FACTS | ABOUT_THE_CASE)[key]) for key, value in facts.items())
        assert facts["rule"] in RULES
        assert facts["cause"][0].isalnum() and facts["cause"].endswith(".")
    assert meta["trace"]["outcome"] == {"broken": "fixed", "report": "reported"}[meta["kind"]]


@pytest.mark.parametrize("name", META)
def test_every_line_that_is_named_has_code(name):
    for facts in told(name):
        for place in [facts["born"], *facts.get("also", ()), *(facts[key] for key in ("met", "moved") if key in facts)]:
            text = line_at(name, place).strip()
            assert text and not text.startswith("#"), place


@pytest.mark.parametrize("name", FOREIGN)
def test_the_package_at_fault_is_installed_as_pip_would(name):
    meta = META[name]
    (site,) = meta["path"]
    (info,) = (CORPUS / name / site).glob("*.dist-info")
    fields = HeaderParser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
    recorded = {line.split(",")[0] for line in (info / "RECORD").read_text(encoding="utf-8").splitlines()}
    there = {path.relative_to(info.parent).as_posix() for path in info.parent.rglob("*") if path.is_file()}

    assert meta["trace"]["package"] == f"{fields['Name']} {fields['Version']}"
    assert recorded == {path for path in there if "__pycache__" not in path}
    assert meta["trace"]["born"].rpartition(":")[0] in recorded


# --- what reading alone does ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", BY_RUN)
def test_reading_alone_edits_nothing(name):
    assert static(CORPUS / name / "broken").patch.files == ()


@pytest.mark.parametrize("name", STORIES)
def test_reading_finds_the_cause_that_the_story_tells(name):
    found = {resolution.finding.code for resolution in static(CORPUS / name / "broken").resolutions}

    assert found == set(META[name]["rules"]) == {facts["rule"] for facts in told(name)}
    assert all(rule_for(code) is not None for code in found)


@pytest.mark.parametrize("name", REPAIRED)
def test_a_repaired_program_is_left_as_it_is(name):
    outcome = static(CORPUS / name / "fixed")

    assert outcome.patch.files == ()
    assert [each.finding for each in outcome.resolutions if each.finding.severity is Severity.ERROR] == []


# --- what running shows -----------------------------------------------------------------------------------------------
@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [name for name in RUN if name in REPAIRED])
def test_a_program_fails_as_told_and_its_twin_trains_the_same(name):
    verdicts, meta = load_verdicts(), META[name]

    found = verdicts.verdict(verdicts.Case(name, meta))

    assert found.status == "fixed", found.reason
    failure = found.runs["original/device"].failure
    if meta["error"] == "silent":
        assert failure is None and found.silent
    else:
        assert failure.family is not None
        assert meta["error"] in failure.text
        assert failure.where == meta["trace"]["met"]


@pytest.mark.parametrize("name", [name for name in RUN if name not in REPAIRED])
def test_a_program_that_is_not_to_be_repaired_fails_in_the_package(name):
    from devfix.verify import run

    verdicts, meta = load_verdicts(), META[name]
    folder = CORPUS / name
    environment = verdicts.installed(folder, meta)
    here, there = (
        run(meta["script"], meta["args"], device, folder / "broken", env=environment) for device in ("cpu", "sim")
    )

    assert here.ok, here.output
    assert len(here.losses) >= 3
    assert there.failure.family is not None
    assert meta["error"] in there.failure.text
    assert there.failure.where == meta["trace"]["met"]
    assert f"{folder / meta['path'][0]}{os.sep}" in there.failure.traceback
