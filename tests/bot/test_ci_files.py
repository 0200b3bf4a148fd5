"""action.yml, the hooks and the workflows of docs/ci hold to their hosts' schemas, and to what docs/bot.md says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / "docs" / "ci"
WORKFLOWS = sorted(CI.glob("github-*.yml"))
_USES = re.compile(r"uses: *(\S+)(.*)")


def schema_errors(schema, *paths):
    """What check-jsonschema says, with the schemas of SchemaStore that it brings."""
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *more(schema), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def more(schema):
    return ["--data-transform", "gitlab-ci"] if "gitlab" in schema else []


def test_workflows_hold_to_their_schema():
    assert schema_errors("vendor.github-workflows", *WORKFLOWS) == ""


def test_a_workflow_that_does_not_hold_to_the_schema_is_told(tmp_path):
    (tmp_path / "bad.yml").write_text("on: push\njobs:\n  a:\n    step: []\n")

    assert "bad.yml" in schema_errors("vendor.github-workflows", tmp_path / "bad.yml")


def test_the_action_holds_to_its_schema():
    assert schema_errors("vendor.github-actions", ROOT / "action.yml") == ""


def test_the_pipeline_holds_to_its_schema():
    assert schema_errors("vendor.gitlab-ci", CI / "gitlab-ci.yml") == ""


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_named_by_release(path):
    for name, remark in _USES.findall(path.read_text()):
        assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}", name), name
        assert remark.startswith(" # "), name


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_no_expression_stands_in_a_script(path):
    for step in steps(yaml.safe_load(path.read_text())):
        assert "${{" not in step.get("run", ""), step


def steps(document):
    if "runs" in document:
        return document["runs"]["steps"]
    return [step for job in document["jobs"].values() for step in job["steps"]]


def workflow(name):
    return yaml.safe_load((CI / name).read_text())


def test_what_runs_code_of_a_pull_request_can_only_read_and_keeps_no_token():
    document = workflow("github-review.yml")

    assert document["permissions"] == {"contents": "read"}
    assert list(document[True]) == ["pull_request"]  # YAML reads "on" as true
    text = (CI / "github-review.yml").read_text()
    assert "token" not in re.sub(r"#.*", "", text) and "secrets." not in text
    checkout = next(step for step in steps(document) if step.get("uses", "").startswith("actions/checkout"))
    assert checkout["with"]["persist-credentials"] is False


def test_what_may_write_checks_nothing_out():
    document = workflow("github-post.yml")

    assert list(document[True]) == ["workflow_run"]
    assert document[True]["workflow_run"]["workflows"] == [workflow("github-review.yml")["name"]]
    assert not any("checkout" in step.get("uses", "") for step in steps(document))


def test_no_workflow_runs_on_pull_request_target():
    for path in WORKFLOWS:
        assert "pull_request_target" not in path.read_text()


def test_each_input_and_output_of_the_action_is_used():
    document = yaml.safe_load((ROOT / "action.yml").read_text())
    text = str(document["runs"])
    source = (ROOT / "devfix" / "bot" / "action.py").read_text()

    for name in document["inputs"]:
        assert f"inputs.{name} " in text
    for name in document["outputs"]:
        assert f'"{name}"' in source


def test_hooks_name_commands_that_exist():
    from devfix.cli import cli

    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
        program, verb, *options = hook["entry"].split()
        command = cli.get_command(None, verb)
        assert program == "devfix"
        assert set(options) <= {option for each in command.params for option in each.opts}
        assert hook["require_serial"] and hook["types_or"] == ["python", "jupyter"]
        assert hook["additional_dependencies"] == ["nbformat"], "the hook is given notebooks"
