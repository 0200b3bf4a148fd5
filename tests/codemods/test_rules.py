"""What every rule promises: documentation with all its headings, examples that are true, a LibCST command."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from libcst.tool import main as libcst_tool

import codemods
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.rules.builtin import rule_files
from devfix.rules.registry import all_rules, rule_for
from devfix.rules.rule import Rule
from devfix.sources import SourceFile

ROOT = Path(__file__).parents[2]
HEADINGS = ["What it does", "Why is this bad?", "Example", "Use instead", "Fix safety", "References"]
RULES = [pytest.param(rule, id=rule.name) for rule in all_rules()]
INVALID = [
    pytest.param(rule, example, id=f"{rule.name}-{example.title.replace(' ', '-')}")
    for rule in all_rules()
    for example in rule.invalid
]
VALID = [
    pytest.param(rule, text, id=f"{rule.name}-{number}")
    for rule in all_rules()
    for number, text in enumerate(rule.valid)
]
MODULES = sorted(
    ".".join(file.relative_to(Path(codemods.__file__).parents[1]).with_suffix("").parts) for file in rule_files()
)


def sections(documentation: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", documentation, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


def programs(rule: Rule) -> list[str]:
    """Return the programs under Example and Use instead."""
    found = sections(rule.documentation)
    return [found[name].removeprefix("```python\n").removesuffix("```") for name in ("Example", "Use instead")]


def codes_in(folder: Path, text: str, rule: Rule) -> set[str]:
    """Return the codes that ``devfix check`` reports in a file of this text alone."""
    file = SourceFile(str(folder / "train.py"), text.encode(), text)
    select = () if rule.default else (rule.code,)
    return {each.finding.code for each in fixpoint.check([file], Settings(root=str(folder), select=select)).resolutions}


def class_name(module: str) -> str:
    return "".join(word.capitalize() for word in module.rpartition(".")[2].split("_"))


def outside(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_a_rule_in_every_public_file():
    assert [importlib.import_module(name).RULE.name.replace("-", "_") for name in MODULES] == [
        name.rpartition(".")[2] for name in MODULES
    ]
    assert len(all_rules()) == len(MODULES) >= 4


@pytest.mark.parametrize("module", MODULES)
def test_every_rule_has_a_twin_file_of_tests_that_names_its_code(module):
    twin = Path(__file__).with_name(f"test_{module.rpartition('.')[2]}.py")

    assert twin.is_file()
    assert f'"{importlib.import_module(module).RULE.code}"' in twin.read_text(encoding="utf-8")


def test_codes_and_names_are_unique():
    codes, names = [rule.code for rule in all_rules()], [rule.name for rule in all_rules()]

    assert len(set(codes)) == len(codes)
    assert len(set(names)) == len(names)
    assert codes == sorted(codes)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_found_by_its_code_and_by_its_name(rule):
    assert re.fullmatch(r"DEV[1-9]\d\d", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule_for(rule.code) is rule_for(rule.code.lower()) is rule_for(f" {rule.name} ") is rule


def test_a_rule_that_is_not_there_is_not_found():
    assert rule_for("DEV000") is None
    assert rule_for("") is None


@pytest.mark.parametrize("rule", RULES)
def test_the_documentation_has_every_heading_with_something_below(rule):
    found = sections(rule.documentation)

    assert list(found) == HEADINGS
    assert all(found.values())
    assert re.search(r"\]\(https://docs\.pytorch\.org/", found["References"])


@pytest.mark.parametrize("rule", RULES)
def test_the_documentation_shows_python_that_compiles_and_differs(rule):
    found = sections(rule.documentation)
    shown = [re.fullmatch(r"```python\n(.+)```", found[name], re.DOTALL) for name in ("Example", "Use instead")]

    assert all(shown)
    bad, good = (ast.dump(ast.parse(match[1])) for match in shown)
    assert bad != good


@pytest.mark.parametrize("rule", RULES)
def test_the_documentation_shows_a_program_with_this_fault_and_no_other(rule, tmp_path):
    bad, good = programs(rule)

    assert codes_in(tmp_path, bad, rule) == {rule.code}
    assert codes_in(tmp_path, good, rule) == set()


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in all_rules() if rule.invalid])
def test_the_documentation_shows_the_fix_that_devfix_makes(rule, repair):
    bad, good = programs(rule)

    assert repair(rule.code, bad) == good


@pytest.mark.parametrize("rule", RULES)
def test_the_summary_is_one_sentence(rule):
    assert re.fullmatch(r"[A-Z`][^\n]*\.", rule.summary)
    assert len(rule.summary) <= 120


@pytest.mark.parametrize("rule", RULES)
def test_there_are_as_many_valid_examples_as_invalid_ones(rule):
    assert len(rule.valid) >= max(len(rule.invalid), 1)
    assert len({example.title for example in rule.invalid}) == len(rule.invalid)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_without_an_example_of_its_fix_says_that_it_has_none(rule):
    assert bool(rule.invalid) is not ("no automatic fix" in sections(rule.documentation)["Fix safety"])


@pytest.mark.parametrize(("rule", "example"), INVALID)
def test_an_invalid_example_is_rewritten_as_it_shows(rule, example, repair):
    assert repair(rule.code, example.before) == example.after
    assert repair(rule.code, example.after) == example.after


@pytest.mark.parametrize(("rule", "text"), VALID)
def test_a_valid_example_stays_as_it_is(rule, text, repair):
    assert repair(rule.code, text) == text


@pytest.mark.parametrize("example", [pytest.param(*case.values[1:], id=case.id) for case in INVALID])
def test_an_example_has_one_fault_only(example, tmp_path):
    file = SourceFile(str(tmp_path / "train.py"), example.after.encode(), example.after)

    assert fixpoint.check([file], Settings(root=str(tmp_path))).resolutions == ()


def test_importing_the_rules_imports_neither_libcst_nor_torch(tmp_path):
    program = (
        "import sys; from devfix.rules import registry; registry.all_rules(); "
        "print(sorted({'libcst', 'torch', 'click', 'rich'} & set(sys.modules)))"
    )

    assert outside("-c", program, folder=tmp_path) == "[]\n"


@pytest.mark.parametrize("name", MODULES)
def test_libcst_runs_each_rule_as_its_own_command(name, tmp_path, monkeypatch):
    rule = importlib.import_module(name).RULE
    before, after = (rule.invalid[0].before, rule.invalid[0].after) if rule.invalid else rule.valid[:1] * 2
    script = tmp_path / "train.py"
    script.write_text(before)
    monkeypatch.chdir(tmp_path)

    code = libcst_tool("libcst.tool", ["codemod", "-x", "--no-format", f"{name}.{class_name(name)}", "train.py"])

    assert code == 0
    assert script.read_text() == after


@pytest.mark.parametrize("name", MODULES)
def test_a_rule_module_lists_its_command_and_nothing_that_is_not_there(name):
    module = importlib.import_module(name)

    assert class_name(name) in dir(module)
    with pytest.raises(AttributeError, match="Nothing"):
        _ = module.Nothing


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_without_fixes_says_so(rule: Rule) -> None:
    says_none = sections(rule.documentation)["Fix safety"].startswith("There is no automatic fix.")

    assert says_none is not rule.fixable
    assert rule.fixable or not rule.invalid
