"""action.yml, the hooks and the workflows of docs/ci hold to their hosts' schemas, and to docs/how-to/bot.md."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / "docs" / "ci"
WORKFLOWS = sorted(CI.glob("github-*.yml"))
RELEASE = ROOT / ".github" / "workflows" / "release.yml"
OURS = [*WORKFLOWS, RELEASE, ROOT / "action.yml"]
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
    assert schema_errors("vendor.github-workflows", *WORKFLOWS, RELEASE) == ""


def test_a_workflow_that_does_not_hold_to_the_schema_is_told(tmp_path):
    (tmp_path / "bad.yml").write_text("on: push\njobs:\n  a:\n    step: []\n")

    assert "bad.yml" in schema_errors("vendor.github-workflows", tmp_path / "bad.yml")


def test_the_action_holds_to_its_schema():
    assert schema_errors("vendor.github-actions", ROOT / "action.yml") == ""


def test_the_pipeline_holds_to_its_schema():
    assert schema_errors("vendor.gitlab-ci", CI / "gitlab-ci.yml") == ""


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_named_by_release(path):
    for name, remark in _USES.findall(path.read_text()):
        assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}", name), name
        assert remark.startswith(" # "), name


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
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


def test_what_posts_follows_the_review():
    document = workflow("github-post.yml")

    assert list(document[True]) == ["workflow_run"]
    assert document[True]["workflow_run"]["workflows"] == [workflow("github-review.yml")["name"]]


@pytest.mark.parametrize("path", [*WORKFLOWS, RELEASE], ids=lambda path: path.name)
def test_no_job_that_may_write_has_a_checkout(path):
    document = yaml.safe_load(path.read_text())
    for job in document["jobs"].values():
        granted = job.get("permissions", document.get("permissions"))
        writes = {name for name, right in granted.items() if right == "write"} - {"security-events"}
        if writes or "github.token" in str([step.get("env") for step in job["steps"]]):
            assert not any("checkout" in step.get("uses", "") for step in job["steps"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_step_of_devfix_beside_a_checkout_has_a_token(path):
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        if any("checkout" in step.get("uses", "") for step in job["steps"]):
            assert not any("env" in step for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_each_workflow_says_what_happens_to_two_runs(path):
    concurrency = yaml.safe_load(path.read_text())["concurrency"]

    assert "cancel-in-progress" in concurrency
    if path.name == "github-post.yml":
        assert "head_repository.full_name" in concurrency["group"] and "head_branch" in concurrency["group"]


def pipeline():
    return {name: job for name, job in yaml.safe_load((CI / "gitlab-ci.yml").read_text()).items() if name != "stages"}


def test_jobs_of_the_pipeline_that_see_the_token_have_no_checkout():
    scoped = {name: job for name, job in pipeline().items() if "environment" in job}

    assert sorted(scoped) == ["devfix-post", "devfix-propose"]
    for job in scoped.values():
        assert job["environment"] == {"name": "devfix", "action": "access"}
        assert job["variables"]["GIT_STRATEGY"] == "none"
        assert job["resource_group"]


def test_no_job_of_the_pipeline_sets_a_token():
    for job in pipeline().values():  # a variable of the project would replace it
        assert not any("TOKEN" in name for name in job.get("variables", {}))


def test_the_pipeline_removes_what_a_merge_request_could_pass_off_as_an_artifact():
    script = pipeline()["devfix-recompute"]["script"]

    assert any(line.startswith("rm -rf devfix-bot devfix.env") for line in script[:2])


@pytest.mark.parametrize("path", [*WORKFLOWS, CI / "gitlab-ci.yml"], ids=lambda path: path.name)
def test_nothing_is_run_as_a_module_beside_a_checkout(path):
    """``python -m pip`` would import a ``pip.py`` of the pull request."""
    assert "python -m" not in path.read_text()


def test_the_action_imports_nothing_from_the_checkout():
    """A ``venv.py`` or ``pip.py`` of the pull request would run in a job that may write code scanning results."""
    started = re.findall(r"(\S+) -m (\w+)", (ROOT / "action.yml").read_text())

    assert [module for _, module in started] == ["venv", "pip", "devfix"]
    assert {option for option, _ in started} == {"-I"}


def test_commands_of_the_workflows_exist():
    from devfix.cli import cli

    for path in [*WORKFLOWS, CI / "gitlab-ci.yml"]:
        for verb, options in re.findall(r"devfix bot (\w+)([^\n;)]*)", re.sub(r"#.*", "", path.read_text())):
            command = cli.get_command(None, "bot").get_command(None, verb)
            known = {option for each in command.params for option in each.opts}
            assert set(re.findall(r"--[\w-]+", options)) <= known, (path.name, verb)


@pytest.mark.skipif(shutil.which("zizmor") is None, reason="zizmor is not installed: nox -s workflows runs it")
def test_auditors_find_nothing_in_the_workflows():
    files = list(map(str, OURS))
    command = ["zizmor", "--offline", "--persona=auditor", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


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


def release_jobs():
    return yaml.safe_load(RELEASE.read_text())["jobs"]


def test_what_a_release_publishes_was_built_once_and_tested():
    jobs = release_jobs()
    building = [
        name for name, job in jobs.items() if any("pyproject-build" in step.get("run", "") for step in job["steps"])
    ]

    assert building == ["build"]
    assert jobs["test"]["needs"] == "build"
    assert {name for name, job in jobs.items() if job.get("needs") == "test"} == set(jobs) - {"build", "test"}


def test_a_release_is_published_with_the_identity_of_the_job_and_attested():
    job = release_jobs()["publish-pypi"]
    publish = job["steps"][-1]

    assert job["permissions"] == {"id-token": "write"}
    assert job["environment"]["name"] == "pypi"
    assert publish["with"]["attestations"] is True
    assert "password" not in publish["with"]


def test_a_release_is_tested_on_each_supported_python():
    classifiers = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())

    assert release_jobs()["test"]["strategy"]["matrix"]["python"] == classifiers


def test_extensions_are_published_by_the_programs_that_build_and_test_them():
    manifest = (ROOT / "editors" / "vscode" / "package.json").read_text()
    version = re.search(r'"@vscode/vsce": "(.*?)"', manifest)

    assert version is not None
    assert f"@vscode/vsce@{version[1]} publish" in RELEASE.read_text()
