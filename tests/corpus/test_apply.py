"""The main job on every case of the corpus: broken programs are repaired, right ones are left as they are."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Status
from devfix.rules.registry import rule_for

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CORPUS = Path(__file__).parents[2] / "corpus"
META = {
    path.parent.relative_to(CORPUS).as_posix(): tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(CORPUS.rglob("case.toml"))
}
READ = [name for name, meta in META.items() if "trace" not in meta]  # test_trace.py has those that a run explains
INCIDENTS = [name for name, meta in META.items() if "incident" in meta]  # measured, not specified
BROKEN = [name for name in READ if META[name]["kind"] == "broken" and name not in INCIDENTS]
RIGHT = [f"{name}/fixed" for name in BROKEN] + [
    f"{name}/clean" for name, meta in META.items() if meta["kind"] == "clean"
]
REPORTED = [name for name in READ if META[name]["kind"] == "report"]


class _SortedKeywords(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        node.keywords.sort(key=lambda keyword: keyword.arg or "")
        return node


def meaning(text: str) -> str:
    """What a program says, without layout, comments and the order of keywords, which are a matter of taste."""
    return ast.dump(_SortedKeywords().visit(ast.parse(text)))


def paths(tree: Path) -> list[Path]:
    return sorted(path for path in tree.rglob("*") if path.suffix in (".py", ".ipynb"))


def programs(tree: Path) -> dict[str, str]:
    return {str(path.relative_to(tree)): sources.read(str(path)).text for path in paths(tree)}


def around_sources(raw: bytes) -> dict:
    """A notebook without the sources of its cells of code."""
    document = json.loads(raw)
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            del cell["source"]
    return document


def apply(tree: Path, unsafe: bool = False):
    """The outcome for a tree, and its programs afterwards; ``port/`` is for rules that are off unless selected."""
    files = [sources.read(str(path)) for path in paths(tree)]
    select = ("DEV81", "DEV82") if tree.is_relative_to(CORPUS / "port") else ()
    outcome = fixpoint.apply(files, Settings(root=str(tree), unsafe_fixes=unsafe, select=select))
    assert outcome.problems == ()
    changed = {
        str(Path(change.path).relative_to(tree)): sources.decode(change.path, change.new).text
        for change in outcome.patch.files
    }
    return outcome, programs(tree) | changed


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_program_becomes_what_its_author_made_of_it(name):
    rules = [rule_for(code) for code in META[name]["rules"]]
    unsafe = any(rule is not None and rule.unsafe for rule in rules)
    outcome, repaired = apply(CORPUS / name / "broken", unsafe)

    for change in outcome.patch.files:
        if change.path.endswith(".ipynb"):
            assert around_sources(change.new) == around_sources(change.old)
    assert {resolution.finding.code for resolution in outcome.resolutions} == set(META[name]["rules"])
    assert {resolution.status for resolution in outcome.resolutions} == {Status.FIXED}
    right = programs(CORPUS / name / "fixed")
    assert repaired.keys() == right.keys()
    for path, text in repaired.items():
        assert meaning(text) == meaning(right[path]), f"{path}\n{text}"


@pytest.mark.parametrize("tree", RIGHT)
def test_a_right_program_is_left_as_it_is(tree):
    outcome, _ = apply(CORPUS / tree)

    assert outcome.resolutions == ()
    assert outcome.patch.files == ()


@pytest.mark.parametrize("name", REPORTED)
def test_nothing_is_edited_where_the_answer_is_no_edit(name):
    outcome, _ = apply(CORPUS / name / "broken")

    assert {resolution.finding.code for resolution in outcome.resolutions} == set(META[name]["rules"])
    assert outcome.patch.files == ()


@pytest.mark.parametrize("name", INCIDENTS)
def test_a_repaired_incident_is_not_edited(name):
    outcome, _ = apply(CORPUS / name / "fixed")

    assert outcome.patch.files == ()
