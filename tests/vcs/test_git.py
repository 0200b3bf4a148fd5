"""Errors of git: the line that names the cause is told."""

import subprocess
import tracemalloc

import pytest

from devfix.vcs.git import Git, GitError


@pytest.fixture
def fails(tmp_path, monkeypatch):
    """Run a git that fails with some error output."""

    def run(output):
        git = tmp_path / "bin" / "git"
        git.parent.mkdir(exist_ok=True)
        (tmp_path / "output").write_text(output)
        git.write_text(
            f"#!/bin/sh\ntest $1 = version && echo git version 2.40 && exit\ncat {tmp_path}/output >&2\nexit 128\n"
        )
        git.chmod(0o700)
        monkeypatch.setattr("devfix.vcs.git._command", lambda: str(git))
        with pytest.raises(GitError) as caught:
            Git(str(tmp_path))("fetch")
        return str(caught.value)

    return run


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            (
                "error: git upload-pack: git-pack-objects died with error.",
                "fatal: git upload-pack: aborting due to possible repository corruption on the remote side.",
                "remote: fatal: unable to read 0123456789012345678901234567890123456789",
                "remote: aborting due to possible repository corruption on the remote side.",
                "fatal: protocol error: bad pack header",
            ),
            "unable to read 0123456789012345678901234567890123456789",
        ),
        (
            (
                "remote: Compressing objects: 100% (3/3), done.",
                "remote: warning: suboptimal pack - out of memory",
                "error: git upload-pack: git-pack-objects died with error.",
                "fatal: early EOF",
            ),
            "warning: suboptimal pack - out of memory",
        ),
        (
            ("fatal: write error: No space left on device", "fatal: fetch-pack: invalid index-pack output"),
            "write error: No space left on device",
        ),
        (("fatal: early EOF", "fatal: index-pack failed"), "early EOF"),
        (("warning: x", "no idea"), "no idea"),
        (("remote: error: hook declined", "error: failed to push some refs to 'x'"), "hook declined"),
        ((), "exit code 128"),
    ],
    ids=["unreadable object", "remark of the remote", "full disk", "consequences only", "no error", "hook", "nothing"],
)
def test_the_cause_is_told_and_not_its_consequence(fails, lines, reason):
    assert fails("\n".join(lines)) == f"git fetch: {reason}"


def test_error_output_without_an_end_takes_no_memory(tmp_path, monkeypatch):
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\nyes remote: hello | head -c 50000000 >&2\necho fatal: no more >&2\nexit 128\n")
    git.chmod(0o700)
    monkeypatch.setattr("devfix.vcs.git._command", lambda: str(git))
    tracemalloc.start()

    with pytest.raises(GitError, match="no more"):
        Git(str(tmp_path))("fetch")

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_pipes_are_closed_when_a_check_stops_the_wait_for_a_command_that_has_ended(tmp_path, monkeypatch):
    script = tmp_path / "git"
    script.write_text("#!/bin/sh\nsleep 0.6\n")
    script.chmod(0o700)
    monkeypatch.setattr("devfix.vcs.git._command", lambda: str(script))
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *args, **options: started.append(popen(*args, **options)) or started[-1]
    )

    def check():
        started[0].wait()
        raise GitError("too large")

    with pytest.raises(GitError, match="too large"):
        Git(str(tmp_path), check=check)("fetch", stdin="")

    (process,) = started
    assert process.stdout.closed and process.stdin.closed
