"""Every case of the corpus is well formed; whether it is true is for corpus/prove.py to run."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

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
    "reference": str,
    "losses": str,
    "incident": dict,
    "path": list,
    "trace": dict,
    "devices": int,
    "torchrun": bool,
}
RULES = {rule.code for rule in all_rules()}
OWN_RULE = {
    "attribute": "DEV202",
    "batch": "DEV101",
    "checkpoint": "DEV301",
    "choice": "DEV501",
    "container": "DEV203",
    "dropped": "DEV103",
    "flag": "DEV105",
    "generator": "DEV603",
    "halves": "DEV502",
    "host": "DEV601",
    "location": "DEV302",
    "leaf": "DEV402",
    "lengths": "DEV602",
    "made": "DEV102",
    "optimizer": "DEV401",
    "order": "DEV201",
    "ranks": "DEV801",
    "uncalled": "DEV104",
    "whole": "DEV204",
}
CHOICE = re.compile(r"""['"]cuda['"] if torch\.cuda\.is_available\(\) else ['"]cpu['"]""")
SEEDS = {"llms_from_scratch", "recognize_anything", "var", "onetrainer", "ai_toolkit"}
PACKAGES = {"torch", "numpy"}
HOSTED = {"google", "blocks"}  # what Colab has, and a module that a cell writes
MEASURED = "incidents"  # programs to measure with: no rule is written for them, and they say what no rule must do


def name_of(case: Path) -> str:
    return str(case.relative_to(CORPUS))


def meta_of(case: Path) -> dict[str, object]:
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


@pytest.fixture(params=CASES, ids=name_of)
def case(request):
    return request.param


def is_specified(case: Path) -> bool:
    return meta_of(case)["kind"] == "broken" and not is_measured(case) and not is_traced(case)


@pytest.fixture(params=[case for case in CASES if is_specified(case)], ids=name_of)
def broken_case(request):
    return request.param


@pytest.fixture(params=[case for case in CASES if is_measured(case)], ids=name_of)
def incident(request):
    return request.param


def test_case_file_has_the_keys_it_needs_and_no_others(case):
    meta = meta_of(case)
    assert meta.keys() - OPTIONAL.keys() == REQUIRED.keys()
    assert all(isinstance(meta[key], kind) for key, kind in (REQUIRED | OPTIONAL).items() if key in meta)
    assert meta["title"].strip()
    assert meta["link"] == "" or meta["link"].startswith("https://github.com/")
    assert set(meta["rules"]) <= RULES
    assert meta.get("run_on", "cpu") == "cpu"
    assert meta.get("losses", "close") in ("differ", "close")


def test_kind_says_which_trees_there_are(case):
    meta = meta_of(case)
    packages = set(meta.get("path", ()))
    assert {path.name for path in case.iterdir() if path.is_dir()} == TREES[meta["kind"]] | packages


def test_kind_says_whether_there_are_rules_and_an_error(case):
    meta = meta_of(case)
    # a report may have rules: a finding without an edit
    assert bool(meta["rules"]) or meta["kind"] != "broken" or is_measured(case) or is_traced(case)
    assert bool(meta.get("error")) == (meta["kind"] != "clean")


def test_scripts_exist_and_every_file_compiles(case):
    meta = meta_of(case)
    for tree in TREES[meta["kind"]]:
        assert (case / tree / meta["script"]).is_file()
        assert (case / tree / meta.get("setup_script", meta["script"])).is_file()
        for name, text in programs(case / tree).items():
            compile(text, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_programs_import_torch_numpy_the_standard_library_and_themselves_only(case):
    meta = meta_of(case)
    packages = PACKAGES | (HOSTED if case.parent.name == "notebooks" else set())
    installed = [name for folder in meta.get("path", ()) for name in sources(case / folder)]
    for tree in (*TREES[meta["kind"]], *meta.get("path", ())):
        names = [*sources(case / tree), *installed]
        own = {Path(name).stem for name in names} | {part for name in names for part in Path(name).parts[:-1]}
        assert imported(case / tree) - own - packages - set(sys.stdlib_module_names) == set()


def test_setup_script_comes_with_a_setup(case):
    meta = meta_of(case)
    assert "setup_script" not in meta or "setup" in meta
    assert "run_on" not in meta or "setup" in meta or "reference" in meta


def test_repair_changes_one_file_and_few_lines(broken_case):
    changes = edited(broken_case)
    assert len(changes) == 1
    ((before, after),) = changes.values()
    assert abs(len(after.splitlines()) - len(before.splitlines())) <= 4


def test_repair_adds_no_hard_coded_accelerator(broken_case):
    for before, changed in edited(broken_case).values():
        after = CHOICE.sub("", changed) if "device" not in before else changed  # where nothing names one, it is chosen
        assert after.count('"cuda') <= before.count('"cuda')
        assert after.count("'cuda") <= before.count("'cuda")


def test_an_incident_says_its_class_its_reach_and_where_it_is_from(incident):
    meta = meta_of(incident)
    assert meta["kind"] == "broken"
    assert meta["rules"] == []
    assert meta["link"]
    assert meta["incident"].keys() == {"class", "reach"}
    assert meta["incident"]["class"] in set("ABCDEFGHIJKLMN")
    assert meta["incident"]["reach"] in ("S1", "S2", "RT")


def test_only_incidents_are_counted_as_such(case):
    assert ("incident" in meta_of(case)) == is_measured(case)
    assert ("trace" in meta_of(case)) == is_traced(case)


def test_the_repair_of_an_incident_changes_something(incident):
    assert edited(incident)


def test_incidents_are_of_every_class():
    of = [meta_of(case)["incident"]["class"] for case in CASES if is_measured(case)]
    assert set(of) == set("ABCDEFGHIJKLMN")
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
