"""Test results: a suite for each file, a case for each finding."""

from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

from devfix.model import Outcome
from devfix.report.findings.junit import render


def parsed(view):
    return ElementTree.fromstring(render(view))


def test_each_file_is_a_suite_and_each_finding_a_failed_case(view):
    root = parsed(view)

    assert dict(root.attrib) == {"name": "devfix", "tests": "4", "failures": "4", "errors": "0"}
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [("odd.py", "1"), ("train.py", "3")]
    assert [case.get("name") for case in root[1]] == [
        f"{code} batch-not-moved at 23:5" for code in ("DEV101", "DEV102", "DEV201")
    ]
    assert {case.get("classname") for case in root[1]} == {"train.py"}


def test_a_failure_tells_the_story_and_what_to_do(view):
    _, (fixed, _, stuck) = parsed(view)

    assert "lib/data.py:7: return x, y  `labels` is created here, on the CPU" in fixed[0].text
    assert "fix: move `labels` to `device` (safe)" in fixed[0].text
    assert stuck[0].text.endswith("not fixed: the file is not yours")


def test_where_nothing_is_wrong_one_case_passes(view):
    ((case,),) = parsed(replace(view, report=replace(view.report, outcome=Outcome())))

    assert (case.get("name"), list(case)) == ("no device bugs", [])


def test_what_no_xml_document_may_hold_is_replaced(view):
    items = view.report.outcome.resolutions
    first = replace(items[0], finding=replace(items[0].finding, message="a\x00b\ud800<&"))
    outcome = replace(view.report.outcome, resolutions=(first,), problems=())

    failure = parsed(replace(view, report=replace(view.report, outcome=outcome))).find(".//failure")

    assert failure.get("message") == "a\ufffdb\ufffd<&"


def test_a_proof_is_told_of_each_suite(view):
    proof = SimpleNamespace(verdict=SimpleNamespace(status="fixed", reason="losses agree"), where="simulated CUDA")

    suites = parsed(replace(view, proof=proof))

    told = {"devfix.verdict": "fixed", "devfix.reason": "losses agree", "devfix.where": "simulated CUDA"}
    assert [{each.get("name"): each.get("value") for each in suite[0]} for suite in suites] == [told, told]
