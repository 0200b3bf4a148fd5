"""Every case of the corpus is well formed; whether it is true is for corpus/prove.py to run."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from devfix.rules.registry import all_rules
from devfix.sources import read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CORPUS = Path(__file__).parents[2] / "corpus"
CASES = sorted(path.parent for path in CORPUS.rglob("case.toml"))
TREES = {"broken": {"broken", "fixed"}, "clean": {"clean"}, "report": {"broken"}}
REQUIRED = {"title": str, "link": str, "rules": list, "script": str, "args": list, "kind": str}
OPTIONAL = {
    "error": str,
    "setup": list,
    "setup_script": str,
    "run_on": str,
    "accelerator": str,
    "reference": str,
    "losses": str,
    "incident": dict,
    "path": list,
    "trace": dict,
    "devices": int,
    "torchrun": bool,
}
RULES = {rule.code for rule in all_rules()}
OWN_RULE = {rule.name.replace("-", "_"): rule.code for rule in all_rules() if rule.default and not rule.fallback}
CLASSES = set("ABCDEFGHIJKLMN")
CHOICE = re.compile(r"""['"]cuda['"] if torch\.cuda\.is_available\(\) else ['"]cpu['"]""")
SEEDS = {"llms_from_scratch", "recognize_anything", "var", "onetrainer", "ai_toolkit"}
PACKAGES = {"torch", "numpy"}
HOSTED = {"google", "blocks"}  # what Colab has, and a module that a cell writes
MEASURED = "incidents"  # programs to measure with: no rule is written for them, and they say what no rule must do


def name_of(case: Path) -> str:
    return str(case.relative_to(CORPUS))


@cache
def meta_of(case: Path) -> dict[str, Any]:
    return tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))


def is_measured(case: Path) -> bool:
    return case.parent.name == MEASURED


def is_traced(case: Path) -> bool:
    """Whether only a run explains it; test_trace.py holds it to what it says."""
    return case.relative_to(CORPUS).parts[0] == "trace"


def sources(tree: Path) -> dict[str, str]:
    """Text of every source and data file of a tree, by its path in the tree."""
    files = sorted(path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(tree)): path.read_text(encoding="utf-8") for path in files}


def programs(tree: Path) -> dict[str, str]:
    """The Python of a tree, by the path of its file: of a notebook its program."""
    found = {}
    for name, text in sources(tree).items():
        if name.endswith(".py"):
            found[name] = text
        elif name.endswith(".ipynb"):
            file = read(str(tree / name))
            assert file.problems == file.notes == (), "every cell is Python, and the notebook valid"
            found[name] = file.text
    return found


def edited(case: Path) -> dict[str, tuple[str, str]]:
    """Files that differ between broken/ and fixed/, with both texts."""
    before, after = sources(case / "broken"), sources(case / "fixed")
    assert before.keys() == after.keys()
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def imported(tree: Path) -> set[str]:
    """First names of all absolute imports of a tree."""
    found: set[str] = set()
    for text in programs(tree).values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
    return found


def is_specified(case: Path) -> bool:
    return meta_of(case)["kind"] == "broken" and not is_measured(case) and not is_traced(case)


# --- what every case must be: each check yields what is wrong --------------------------------------------------------
def keys(case: Path) -> Iterator[str]:
    meta = meta_of(case)
    if meta.keys() - OPTIONAL.keys() != REQUIRED.keys():
        yield f"keys missing or unknown: {sorted((meta.keys() - OPTIONAL.keys()) ^ REQUIRED.keys())}"
    for key, kind in (REQUIRED | OPTIONAL).items():
        if key in meta and not isinstance(meta[key], kind):
            yield f"{key} is no {kind.__name__}"
    if not str(meta["title"]).strip():
        yield "no title"
    if meta["link"] != "" and not str(meta["link"]).startswith("https://github.com/"):
        yield f"link {meta['link']!r}"
    if not set(meta["rules"]) <= RULES:
        yield f"unknown rules {sorted(set(meta['rules']) - RULES)}"
    if meta.get("run_on", "cpu") != "cpu" or meta.get("losses", "close") not in ("differ", "close"):
        yield "run_on or losses"


def trees(case: Path) -> Iterator[str]:
    meta = meta_of(case)
    found = {path.name for path in case.iterdir() if path.is_dir()}
    wanted = TREES[meta["kind"]] | set(meta.get("path", ()))
    if found != wanted:
        yield f"folders {sorted(found)} instead of {sorted(wanted)}"


def rules_and_error(case: Path) -> Iterator[str]:
    meta = meta_of(case)
    # a report may have rules: a finding without an edit
    if not (meta["rules"] or meta["kind"] != "broken" or is_measured(case) or is_traced(case)):
        yield "broken, and no rule finds it"
    if bool(meta.get("error")) != (meta["kind"] != "clean"):
        yield "an error belongs to every program that is not clean"


def scripts(case: Path) -> Iterator[str]:
    meta = meta_of(case)
    for tree in sorted(TREES[meta["kind"]]):
        for script in (meta["script"], meta.get("setup_script", meta["script"])):
            if not (case / tree / script).is_file():
                yield f"{tree} has no {script}"
        for name, text in programs(case / tree).items():
            try:
                compile(text, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            except SyntaxError as error:
                yield f"{tree}/{name}: {error}"


def imports(case: Path) -> Iterator[str]:
    meta = meta_of(case)
    packages = PACKAGES | (HOSTED if case.parent.name == "notebooks" else set())
    installed = [name for folder in meta.get("path", ()) for name in sources(case / folder)]
    for tree in (*sorted(TREES[meta["kind"]]), *meta.get("path", ())):
        names = [*sources(case / tree), *installed]
        own = {Path(name).stem for name in names} | {part for name in names for part in Path(name).parts[:-1]}
        foreign = imported(case / tree) - own - packages - set(sys.stdlib_module_names)
        if foreign:
            yield f"{tree} imports {sorted(foreign)}"


def setup(case: Path) -> Iterator[str]:
    meta = meta_of(case)
    if "setup_script" in meta and "setup" not in meta:
        yield "a setup_script without a setup"
    if "run_on" in meta and not {"setup", "reference"} & meta.keys():
        yield "run_on without setup or reference"


def repair(case: Path) -> Iterator[str]:
    """A repair changes one file and few lines, and hard-codes no accelerator; a port changes all files of a program."""
    if not is_specified(case):
        return
    changes = edited(case)
    is_port = "port" in case.relative_to(CORPUS).parts
    if len(changes) != 1 and not is_port:
        yield f"the repair changes {len(changes)} files"
    for before, changed in changes.values():
        if abs(len(changed.splitlines()) - len(before.splitlines())) > 4:
            yield "the repair adds or removes more than 4 lines"
        after = (
            CHOICE.sub("", changed) if is_port or "device" not in before else changed
        )  # where nothing names one, it is chosen
        if is_port:
            after = after.replace('.type == "cuda"', "")  # a question
        if any(after.count(quoted) > before.count(quoted) for quoted in ('"cuda', "'cuda")):
            yield "the repair hard-codes an accelerator"


def measured(case: Path) -> Iterator[str]:
    meta = meta_of(case)
    if ("incident" in meta) != is_measured(case) or ("trace" in meta) != is_traced(case):
        yield "an [incident] or a [trace] in the wrong folder"
    if not is_measured(case):
        return
    if meta["kind"] != "broken" or meta["rules"] or not meta["link"]:
        yield "an incident is broken, has no rules, and says where it is from"
    told = meta.get("incident", {})
    if told.keys() != {"class", "reach"} or told["class"] not in CLASSES or told["reach"] not in ("S1", "S2", "RT"):
        yield f"incident {told}"
    if not edited(case):
        yield "the repair changes nothing"


CHECKS = (keys, trees, rules_and_error, scripts, imports, setup, repair, measured)


def test_every_case_is_well_formed():
    assert [f"{name_of(case)}: {wrong}" for case in CASES for check in CHECKS for wrong in check(case)] == []


def test_incidents_are_of_every_class():
    of = [meta_of(case)["incident"]["class"] for case in CASES if is_measured(case)]
    assert set(of) == CLASSES
    assert len(of) >= 32


@pytest.mark.parametrize("folder", sorted(OWN_RULE))
def test_each_rule_has_at_least_six_programs(folder):
    cases = [case for case in CASES if case.parent.name == folder]
    assert len(cases) >= 6
    assert all(OWN_RULE[folder] in meta_of(case)["rules"] for case in cases)


def test_there_are_at_least_thirty_correct_programs():
    assert sum(meta_of(case)["kind"] == "clean" for case in CASES) >= 30


def test_the_five_founding_incidents_are_there():
    assert {case.name for case in CASES if case.parent.name == "seeds"} == SEEDS
