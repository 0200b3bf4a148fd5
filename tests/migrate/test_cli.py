"""``devfix migrate`` from outside."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from devfix.migrate.plan import read_plan
from devfix.migrate.state import State

pytestmark = pytest.mark.sample(9)  # each takes seconds


@pytest.fixture
def devfix(tmp_path):
    """Runs devfix in the test's folder."""

    def run(*arguments, code=0, **changes):
        done = subprocess.run(
            [sys.executable, "-m", "devfix", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "DEVFIX_CACHE_DIR": str(tmp_path / "cache"), **changes},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture
def repositories(tmp_path, make, broken, clean):
    """Six repositories, of which two have a bug, in the folder ``all``."""
    for number in range(6):
        make(tmp_path / "all" / f"r{number}", {"train.py": broken if number % 3 == 0 else clean})
    return tmp_path / "all"


OUTCOMES = [(f"r{number}", "fixed" if number % 3 == 0 else "clean") for number in range(6)]


def rows(tmp_path):
    """The state without what differs from run to run."""
    state = State(str(tmp_path / "devfix-migrate" / "state.log"), writable=False)
    found = [without_times(state.document(entry)) for entry in state.latest()]
    state.close()
    return found


def without_times(line):
    return {
        key: value for key, value in json.loads(line).items() if key not in ("seconds", "timings", "cpu_s", "memory_mb")
    }


def test_from_init_to_records(devfix, repositories, tmp_path):
    devfix("migrate", "init", "all")
    devfix("migrate", "init", "all", code=2)

    done = devfix("migrate", "devfix-plan.toml", "--output-format", "jsonl", "-j", "2", "--report", "report.html")

    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["name"], each["outcome"]) for each in records] == OUTCOMES
    assert done.stdout == (tmp_path / "devfix-migrate" / "records.jsonl").read_text()
    lines = done.stderr.splitlines()
    assert len(lines) == 8 and lines[-1] == "6 repositories, 2 fixed, 4 clean"
    assert (
        lines[-2].startswith("devfix-migrate/ contains 2 patches (git apply), records.jsonl")
        and "report.html" in lines[-2]
    )
    assert len((tmp_path / "devfix-migrate" / "migrate.log").read_text().splitlines()) == 6
    patch = tmp_path / "devfix-migrate" / "patches" / "r0.patch"
    assert subprocess.run(["git", "apply", "--check", patch], cwd=repositories / "r0", check=False).returncode == 0

    assert "r0" in (tmp_path / "report.html").read_text() and (tmp_path / "report.html").stat().st_size > 10_000

    again = devfix("migrate", "devfix-plan.toml", "--output-format", "jsonl")
    assert again.stdout == done.stdout
    assert again.stderr.splitlines()[-1].endswith("6 from earlier runs")


def test_results_are_on_standard_output_and_the_rest_on_standard_error(devfix, repositories):
    done = devfix("migrate", "all", "-j", "2")

    lines = done.stdout.splitlines()
    assert sorted(line.split()[1] for line in lines[:-1]) == [name for name, _ in OUTCOMES]
    assert lines[-1] == "6 repositories, 2 fixed, 4 clean"
    assert done.stderr == "devfix-migrate/ contains 2 patches (git apply), records.jsonl and migrate.log\n"
    assert devfix("migrate", "all", "-qq").stdout == ""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_what_was_done_is_done_after_a_kill(devfix, repositories, tmp_path, ending):
    command = [sys.executable, "-m", "devfix", "migrate", "all", "-j", "2"]
    environment = {**os.environ, "DEVFIX_CACHE_DIR": str(tmp_path / "cache"), "DEVFIX_TEST_MARK": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        running.stdout.readline()  # one is done
        running.send_signal(ending)
        told = running.stderr.read()
    assert running.returncode == (-signal.SIGKILL if ending == signal.SIGKILL else 130)
    if ending == signal.SIGINT:
        assert "run the same command again to continue" in told and "Traceback" not in told
    assert_workers_end(tmp_path)
    kept = rows(tmp_path)
    assert kept

    done = devfix("migrate", "all", "-j", "2")

    assert f"{len(kept)} from earlier runs" in done.stdout
    resumed = rows(tmp_path)
    assert [(each["name"], each["outcome"]) for each in resumed] == OUTCOMES
    assert all(each in resumed for each in kept)
    assert not list((tmp_path / "cache" / "worktrees").rglob("*.py"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seconds", [0.0, 0.15, 0.3, 0.5])
def test_ctrl_c_at_the_terminal_is_quiet_from_the_start(repositories, tmp_path, seconds):
    command = [sys.executable, "-m", "devfix", "migrate", "all", "-j", "2"]
    environment = {**os.environ, "DEVFIX_CACHE_DIR": str(tmp_path / "cache"), "DEVFIX_TEST_MARK": str(tmp_path)}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        deadline = time.monotonic() + 20
        while len(marked(tmp_path)) < 2 and time.monotonic() < deadline:  # the process that workers fork from is there
            time.sleep(0.02)
        time.sleep(seconds)
        os.killpg(running.pid, signal.SIGINT)
        told, results = running.stderr.read(), running.stdout.read()

    assert running.returncode == 130 or "6 repositories, 2 fixed, 4 clean" in results, told
    assert "Traceback" not in told and "KeyboardInterrupt" not in told
    assert_workers_end(tmp_path)


def assert_workers_end(tmp_path):
    deadline = time.monotonic() + 10
    while marked(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marked(tmp_path) == []


def marked(tmp_path):
    """Processes that were started with the mark."""
    found = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if f"DEVFIX_TEST_MARK={tmp_path}\0".encode() in file.read():
                    found.append(process)
        except OSError:
            continue
    return found


def test_failures_do_not_hide_and_do_not_stop_the_rest(devfix, repositories, tmp_path, make):
    poison = {
        "syntax": {"train.py": "import torch\ndef (:\n"},
        "binary": {"train.py": b"torch" + bytes(range(256)) * 10},
        "odd name": {"a b\tc.py": "x = 1\n"},
        "empty": {},
    }
    for name, files in poison.items():
        make(repositories / name, files)
    (repositories / "unborn").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=repositories / "unborn", check=True)
    (repositories / "loop").mkdir()
    (repositories / "loop" / "again").symlink_to(".")
    make(repositories / "loop" / "here", {"train.py": "x = 1\n"})

    done = devfix("migrate", "all", "--output-format", "jsonl", code=1)

    records = {record["name"]: record for record in map(json.loads, done.stdout.splitlines())}
    outcomes = {name: record["outcome"] for name, record in records.items()}
    assert len(records) == 6 + 6 and list(outcomes.values()).count("fixed") == 2
    assert outcomes["syntax"] == outcomes["binary"] == "not-fixed"
    assert outcomes["empty"] == outcomes["odd-name"] == outcomes["here"] == "clean"
    assert outcomes["unborn"] == "failed" and "no commit" in records["unborn"]["reason"]
    devfix("migrate", "all", "--fail-level", "all")


def test_a_wrong_plan_is_one_line(devfix, tmp_path):
    (tmp_path / "plan.toml").write_text('[[repository]]\nurl = "https://me:hunter2@h/a"\nreff = "x"\n')

    done = devfix("migrate", "plan.toml", code=2)

    assert done.stderr.startswith("devfix: plan.toml:3: unknown key 'reff'")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("value", ["3", "0/2", "3/2", "a/b", "-1/2"])
def test_a_wrong_shard_is_told(devfix, repositories, value):
    assert "second of five parts" in devfix("migrate", "all", f"--shard={value}", code=2).stderr


def test_a_state_that_cannot_be_written_is_one_line(devfix, repositories, tmp_path):
    (tmp_path / "file").write_text("")

    done = devfix("migrate", "all", "--state", "file/state.log", code=2)

    assert len(done.stderr.splitlines()) == 1 and "file" in done.stderr


def test_a_token_goes_nowhere(devfix, tmp_path):
    secret = "hunter2hunter2hunter2"
    (tmp_path / "list").write_text(f"https://me:{secret}@127.0.0.1:1/a.git\nhttps://{secret}@127.0.0.1:1/b.git main\n")

    devfix("migrate", "init", "list")
    done = devfix("migrate", "list", "-v", "--output-format", "jsonl", "--report", "report.html", code=1)

    (tmp_path / "list").unlink()
    assert done.stdout.count("no connection") >= 2
    assert secret not in done.stdout + done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"state.log", "migrate.log", "records.jsonl", "devfix-plan.toml", "report.html"} <= {p.name for p in files}
    for path in files:
        assert secret.encode() not in path.read_bytes(), path
    assert 'url = "https://127.0.0.1:1/a.git"' in (tmp_path / "devfix-plan.toml").read_text()


def test_a_scheduler_is_for_dask(devfix, repositories):
    told = devfix("migrate", "all", "--engine", "local", "--scheduler", "tcp://127.0.0.1:1", code=2).stderr

    assert "--scheduler is for --engine dask" in told


def test_status_and_report_read_the_state(devfix, repositories, tmp_path):
    (tmp_path / "list").write_text("all/r0\nall/r1\nnowhere\n")
    devfix("migrate", "list", code=1)

    told = devfix("migrate", "status").stdout
    assert "not running" in told and "3 of 3 repositories done, 1 fixed, 1 clean, 1 failed" in told
    assert "1 in fetch: no such folder: REPOSITORY" in told
    found = json.loads(devfix("migrate", "status", "devfix-migrate", "--output-format", "json").stdout)
    assert (found["total"], found["left"], found["running"], found["outcomes"]["failed"]) == (3, 0, False, 1)

    records = (tmp_path / "devfix-migrate" / "records.jsonl").read_text()
    assert devfix("migrate", "report", "--output-format", "jsonl").stdout == records
    sarif = json.loads(devfix("migrate", "report", "--output-format", "sarif").stdout)
    assert [len(run["results"]) for run in sarif["runs"]] == [1, 0, 0]
    devfix("migrate", "report", "-o", "page.html")
    assert "nowhere" in (tmp_path / "page.html").read_text()


def test_status_while_a_run_is_in_progress(devfix, repositories, tmp_path):
    (tmp_path / "all" / "r0").rename(tmp_path / "all" / "a")
    state = State(str(tmp_path / "devfix-migrate" / "state.log"))
    state.note_run({"plan": "plan.toml", "tasks": 8, "started": time.time() - 10})
    for number, task in enumerate(read_plan(str(tmp_path / "all"))[:4]):
        state.put(task, task.failed("fetch", f"no connection {number}"))

    told = devfix("migrate", "status").stdout

    assert told.startswith(
        "plan.toml: running\n4 of 8 repositories done, 4 failed\n0.4 per second, 10 s for the other 4"
    )
    state.close()


@pytest.mark.thorough
def test_retry_repeats_the_failures_that_match(devfix, repositories, tmp_path):
    (tmp_path / "list").write_text("all/r1\nlate\nnowhere\n")
    devfix("migrate", "list", code=1)
    (repositories / "r2").rename(tmp_path / "late")

    assert "no failed repository matches" in devfix("migrate", "retry", "--stage", "scan").stderr
    told = devfix("migrate", "retry", "--match", "late", code=1).stdout

    assert "2 clean, 1 failed, 2 from earlier runs" in told
    assert "2 clean" in devfix("migrate", "status").stdout


@pytest.mark.thorough
def test_a_damaged_state_costs_the_damaged_entries(devfix, repositories, tmp_path):
    devfix("migrate", "all")
    path = tmp_path / "devfix-migrate" / "state.log"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"train", b"TRAIN", 1) if b"train" in lines[2] else lines[2][:50] + b"?" + lines[2][51:]
    path.write_bytes(b"".join(lines))

    done = devfix("migrate", "all")

    assert "1 entry is damaged; these repositories are processed again" in done.stderr
    assert done.stdout.splitlines()[-1] == "6 repositories, 2 fixed, 4 clean, 5 from earlier runs"


def test_a_state_that_is_not_there_is_told(devfix):
    told = devfix("migrate", "status", "nowhere", code=2).stderr

    assert told == "devfix: nowhere: no such state: run devfix migrate PLAN --out nowhere first\n"


def test_help_lists_the_subcommands(devfix):
    told = devfix("migrate", "--help").stdout

    assert all(name in told for name in ("init", "status", "retry", "report", "open", "merge", "close"))


@pytest.mark.thorough
def test_results_go_to_a_shared_folder(devfix, repositories, tmp_path):
    devfix("migrate", "all", "--results", "shared")

    assert len(list((tmp_path / "shared").glob("*.json"))) == 6
    assert not list((tmp_path / "devfix-migrate" / "patches").iterdir())
    lines = devfix("migrate", "report", "--output-format", "jsonl").stdout.splitlines()
    assert [bool(json.loads(line)["patch"]) for line in lines] == [number % 3 == 0 for number in range(6)]
    assert "6 from earlier runs" in devfix("migrate", "all", "--results", "shared").stdout
