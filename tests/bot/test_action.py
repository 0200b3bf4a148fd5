"""The step of action.yml, as a job runs it, or in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bot.conftest import BROKEN, CLEAN
from in_process import run_in_process

from devfix.bot import action

ROOT = Path(__file__).parents[2]


def process(environment):
    """Run the step as the job does."""
    command = [sys.executable, "-m", "devfix.bot.action"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def in_process(monkeypatch, capsys):
    """Run the step, and the commands of devfix that it starts, in this process."""
    start = subprocess.run

    def command(arguments, stdout=None, stderr=None, **more):
        if arguments[2:4] != ["-m", "devfix"]:
            return start(arguments, stdout=stdout, stderr=stderr, **more)
        result = run_in_process(*arguments[4:])
        if stdout is None:
            sys.stdout.write(result.text)
        if stderr is None:
            sys.stderr.write(result.stderr)
        return subprocess.CompletedProcess(arguments, result.code, result.stdout.decode(), result.stderr)

    def call(environment):
        with monkeypatch.context() as patch:
            patch.setattr(subprocess, "run", command)
            code = action.main(environment)
        return subprocess.CompletedProcess([], code, *capsys.readouterr())

    return call


@pytest.fixture
def start(repository, tmp_path):
    """Run the step with inputs; return its end, its outputs and the job's summary."""
    repository.commit(train__py=CLEAN)

    def call(run, inputs):
        temporary = tmp_path / "runner"
        temporary.mkdir(exist_ok=True)
        files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(temporary),
            **{name: str(path) for name, path in files.items()},
            **{f"DEVFIX_{name.upper()}": value for name, value in inputs.items()},
        }
        done = run(environment)
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return done, outputs, files["GITHUB_STEP_SUMMARY"].read_text()

    return call


def obeyed(printed):
    """The lines in which a runner looks for commands: not those of the report, which may hold a stranger's text."""
    stop, _, rest = printed.partition("\n")
    token = stop.removeprefix("::stop-commands::")
    assert len(token) == 64
    return rest.partition(f"::{token}::\n")[2]


@pytest.fixture
def job(start):
    return lambda **inputs: start(process, inputs)


@pytest.fixture
def step(start, in_process):
    return lambda **inputs: start(in_process, inputs)


def test_findings_are_shown_kept_and_counted(job, repository):
    (repository.tree / "train.py").write_text(BROKEN)

    done, outputs, summary = job(paths=".")

    assert done.returncode == 1, done.stderr
    assert obeyed(done.stdout).startswith("::error title=devfix (DEV102),file=train.py,line=7")
    shown = done.stdout.removesuffix(obeyed(done.stdout))
    assert (shown.count("DEV102"), done.stderr) == (1, "")  # told once, and kept in three formats
    assert (outputs["findings-count"], outputs["fixable-count"]) == ("1", "1")
    assert json.loads(Path(outputs["sarif-file"]).read_text())["version"] == "2.1.0"
    assert ".to(device)" in Path(outputs["diff-file"]).read_text()
    assert "| `train.py:7` | DEV102 " in summary


def test_nothing_to_find(step):
    done, outputs, summary = step(paths=".", annotations="false")

    assert (done.returncode, obeyed(done.stdout), outputs["diff-file"]) == (0, "", "")
    assert "No findings in 1 files." in summary


@pytest.mark.parametrize(("fail_on", "code"), [("findings", 1), ("fixable", 1), ("never", 0), ("whatever", 2)])
def test_what_the_step_fails_on(step, repository, fail_on, code):
    (repository.tree / "train.py").write_text(BROKEN)

    assert step(fail_on=fail_on, annotations="false")[0].returncode == code


def test_only_changed_lines_count(step, repository):
    repository.commit(train__py=BROKEN)

    assert step(since="HEAD")[0].returncode == 0
    assert step(since="HEAD~1")[0].returncode == 1


def test_inputs_reach_no_shell(job, repository):
    done, _, _ = job(paths='"a; touch evil" $(touch evil) `touch evil`', annotations="false")

    assert done.returncode == 2
    assert "devfix: $(touch: no such file or folder" in done.stderr
    assert not (repository.tree / "evil").exists()


def test_what_only_counts_is_no_input(step):
    done, outputs, _ = step(paths=".", args="--statistics")

    assert (done.returncode, outputs, "Traceback" in done.stderr) == (2, {}, False)
    assert "args must not contain --statistics" in done.stdout


def test_a_missing_path_is_2_and_the_others_are_processed(step, repository):
    (repository.tree / "train.py").write_text(BROKEN)

    done, outputs, summary = step(paths="train.py missing.py")

    assert done.returncode == 2
    assert (done.stdout + done.stderr).count("missing.py: no such file or folder") == 1
    assert outputs["findings-count"] == "1" and Path(outputs["diff-file"]).read_text()
    assert "DEV" in summary and "missing.py" in summary


def test_an_earlier_report_is_not_taken_for_the_one_of_a_run_that_fails(step):
    assert step()[0].returncode == 0

    done, outputs, summary = step(args="--no-such-option")

    assert (done.returncode, outputs, summary) == (2, {}, "")
