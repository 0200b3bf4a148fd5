"""The pages about error messages: one for each family, up to date, and true of the programs that they show."""

import json
import re

import pytest
import transcripts
from in_process import run_in_process
from reference_pages import errors, rules

from devfix.report.error_pages import page_text
from devfix.rules import registry
from devfix.verify.probe.messages import FAMILIES

FOLDER = transcripts.ROOT / "docs" / errors.FOLDER
PAGES = sorted({family.page for family in FAMILIES.values()})
HEADINGS = ["Why it happens", "What devfix says", "The repair", "Wordings", "Rules"]


def text_of(name):
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def program_of(name):
    """The program of a page, if its command is run."""
    steps = list(transcripts.steps(text_of(name)))
    return next((step.shown for step in steps if step.name), None), [step for step in steps if step.command]


SHOWN = [name for name in PAGES if program_of(name)[0] is not None]


def test_each_family_has_a_page_and_each_page_a_family():
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted([*PAGES, "index"])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_its_headings_and_the_words_of_its_message_in_the_title(name):
    text = text_of(name)
    title = text.splitlines()[0].removeprefix("# ")

    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert any(family.title in title for family in errors.families_of(name))
    assert page_text(name).startswith(f"# {title}\n")


@pytest.mark.parametrize("name", [*PAGES, "index"])
def test_the_parts_of_a_page_are_those_of_the_table_and_the_rules(name):
    assert errors.refreshed(text_of(name), name) == text_of(name), "in docs: python -m reference_pages.errors"


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_shows_what_the_command_prints(name, tmp_path, monkeypatch):
    for variable, value in {"COLUMNS": "88", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(variable, value)
    program, (step,) = program_of(name)
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    done = run_in_process(*step.command.split()[1:])
    printed = f"{done.stdout.decode()}{done.stderr}"

    assert transcripts.same(step.shown, "".join(f"{line.rstrip()}\n" for line in printed.splitlines())), (
        f"{printed}\nis not what the page shows; write it there with: python tests/docs/transcripts.py"
    )
    codes = {rule.code for rule in errors.rules_of(name)}
    assert set(re.findall(r"\bDEV\d{3}\b", step.shown)) <= codes


@pytest.mark.parametrize("name", SHOWN)
def test_a_traceback_of_the_program_leads_to_the_finding_of_the_page(name, tmp_path, monkeypatch):
    program, _ = program_of(name)
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    checked = json.loads(run_in_process("check", "train.py", "--output-format", "json").stdout)
    finding = checked["findings"][0]
    line = finding["events"][-1]["line"]
    family = errors.families_of(name)[-1]
    (tmp_path / "error.txt").write_text(
        "Traceback (most recent call last):\n"
        f'  File "/home/ann/nets/train.py", line {line}, in <module>\n    {program.splitlines()[line - 1].strip()}\n'
        f"RuntimeError: {family.wordings[0].text}\n",
        encoding="utf-8",
    )

    done = run_in_process("diagnose", "error.txt", "--output-format", "json")
    found = json.loads(done.stdout)

    assert done.code == 1
    assert (found["error"]["family"], found["error"]["page"]) == (family.name, name)
    assert found["causes"][0]["rule"] == finding["code"]
    assert "failing line" in found["causes"][0]["reasons"][0]


def test_the_page_of_a_rule_links_to_the_pages_of_its_messages():
    made = rules.pages()
    for rule in registry.all_rules():
        linked = re.findall(r"\.\./\.\./errors/([\w-]+)\.md", made[f"reference/rules/{rule.code}.md"])
        assert sorted(linked) == sorted({page for page in PAGES if rule in errors.rules_of(page)})
