"""JUnit XML report: one test suite per file, one failed test case per finding and problem.

The elements are those of Jenkins' xUnit plugin (junit-10.xsd), which GitLab and other services read.  A report without
findings has one passed test case, because services reject an empty report.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from devfix.model import Finding, Outcome, Problem, Resolution
from devfix.report.findings.concise import location, problem_line
from devfix.report.sanitize import printable

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["render"]

#: Characters not allowed in XML 1.0: https://www.w3.org/TR/xml/#charsets
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def render(view: View) -> str:
    """Return the document as text that declares UTF-8."""
    suites: dict[str, list[ElementTree.Element]] = {}
    for item in view.listed:
        name = view.name(item.finding.path)
        suites.setdefault(name, []).append(_finding(name, item, view.report.outcome))
    for problem in view.report.outcome.problems:
        name = view.name(problem.path)
        suites.setdefault(name, []).append(_problem(name, problem, view.report.outcome))
    failed = sum(map(len, suites.values()))
    root = _element("testsuites", name="devfix", tests=str(failed or 1), failures=str(failed), errors="0")
    for name, cases in sorted(suites.items()):
        root.append(_suite(name, cases, failed=len(cases)))
    if not suites:
        root.append(_suite("devfix", [_element("testcase", name="no device bugs", classname="devfix")], failed=0))
    if view.proof is not None:
        for suite in root:
            suite.insert(0, _properties(view))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(name: str, cases: list[ElementTree.Element], failed: int) -> ElementTree.Element:
    suite = _element("testsuite", name=name, tests=str(len(cases)), failures=str(failed), errors="0", skipped="0")
    suite.extend(cases)
    return suite


def _properties(view: View) -> ElementTree.Element:
    assert view.proof is not None
    verdict = view.proof.verdict
    properties = _element("properties")
    for name, value in (("verdict", verdict.status), ("reason", verdict.reason), ("where", view.proof.where)):
        properties.append(_element("property", name=f"devfix.{name}", value=value))
    return properties


def _finding(name: str, item: Resolution, outcome: Outcome) -> ElementTree.Element:
    finding = item.finding
    at = location(finding, outcome).removeprefix(f"{printable(finding.path)}:")
    case = _element("testcase", name=f"{finding.code} {finding.name} at {at}", classname=name)
    failure = _element("failure", type=finding.code, message=finding.message)
    failure.text = _clean("\n".join(_details(item, outcome)))
    case.append(failure)
    return case


def _details(item: Resolution, outcome: Outcome) -> list[str]:
    finding: Finding = item.finding
    lines = [f"{location(finding, outcome)}: {finding.severity.value} {finding.code} {finding.name}", finding.message]
    lines += [
        f"  {outcome.where(event.path, event.line)}: {event.source}  {event.note}".rstrip() for event in finding.events
    ]
    lines += [f"note: {note}" for note in finding.notes]
    fix = item.fix or next(iter(finding.fixes), None)
    reason = item.reason or finding.reason
    if fix is not None:
        lines.append(f"fix: {fix.title} ({fix.applicability.value})")
    if reason:
        lines.append(f"not fixed: {reason}")
    return lines


def _problem(name: str, problem: Problem, outcome: Outcome) -> ElementTree.Element:
    at = outcome.where(problem.path, problem.line).removeprefix(f"{problem.path}:")
    case = _element("testcase", name=f"problem at {at}" if problem.line else "problem", classname=name)
    failure = _element("failure", type="problem", message=problem.message)
    failure.text = _clean(problem_line(problem, outcome))
    case.append(failure)
    return case


def _element(tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.Element(tag, {key: _clean(value) for key, value in attributes.items()})


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
