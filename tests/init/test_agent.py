"""Instructions for coding agents: a skill, and a section that is added once."""

import os

import pytest
import yaml

from devfix.init import Addition, Present, Refused, agent
from devfix.init._templates import template

SKILL = ".claude/skills/devfix/SKILL.md"


def by_name(root):
    return {os.path.relpath(step.path, root).replace(os.sep, "/"): step for step in agent(str(root))}


def test_without_instructions_a_skill_and_agents_md_are_made(tmp_path):
    steps = by_name(tmp_path)

    assert list(steps) == [SKILL, "AGENTS.md"]
    assert all(isinstance(step, Addition) and step.old is None for step in steps.values())
    assert steps[SKILL].new == template("SKILL.md")
    assert b"devfix diagnose" in steps["AGENTS.md"].new


def test_the_skill_is_short_and_has_a_name_and_a_description():
    _, head, text = template("SKILL.md").decode().split("---\n", 2)

    found = yaml.safe_load(head)
    assert found["name"] == "devfix" and len(found["description"]) < 1024
    assert len(text.split()) < 300


def test_existing_text_stays_and_a_second_run_adds_nothing(tmp_path):
    (tmp_path / "AGENTS.md").write_bytes(b"# Rules\r\n\r\nUse tabs.\r\n")
    (tmp_path / "CLAUDE.md").write_bytes(b"Be brief.")

    steps = by_name(tmp_path)

    assert list(steps) == [SKILL, "AGENTS.md", "CLAUDE.md"]
    assert steps["AGENTS.md"].new.startswith(b"# Rules\r\n\r\nUse tabs.\r\n\r\n## PyTorch")
    assert b"\n" not in steps["AGENTS.md"].new.replace(b"\r\n", b"")
    assert steps["CLAUDE.md"].new.startswith(b"Be brief.\n\n## PyTorch")
    for step in steps.values():
        step.write()
    assert all(isinstance(step, Present) for step in by_name(tmp_path).values())


def test_a_claude_md_that_imports_or_is_agents_md_is_left_alone(tmp_path):
    (tmp_path / "CLAUDE.md").write_text("See @AGENTS.md for all rules.\n")
    assert "CLAUDE.md" not in by_name(tmp_path)

    (tmp_path / "AGENTS.md").write_text("# Rules\n")
    (tmp_path / "CLAUDE.md").unlink()
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assert "CLAUDE.md" not in by_name(tmp_path)


@pytest.mark.parametrize(
    ("folders", "skills"),
    [([".agents"], [".agents"]), ([".agents", ".claude"], [".claude", ".agents"]), ([], [".claude"])],
)
def test_the_skill_is_for_the_tools_that_the_repository_has(tmp_path, folders, skills):
    for name in folders:
        (tmp_path / name).mkdir()

    names = [name for name in by_name(tmp_path) if name.endswith("SKILL.md")]

    assert names == [f"{folder}/skills/devfix/SKILL.md" for folder in skills]


def test_a_changed_skill_is_not_overwritten(tmp_path):
    (tmp_path / SKILL).parent.mkdir(parents=True)
    (tmp_path / SKILL).write_text("ours\n")

    step = by_name(tmp_path)[SKILL]

    assert isinstance(step, Refused) and "differs" in step.reason
