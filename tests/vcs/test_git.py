"""Errors of git: the line that names the cause is told."""

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
    ("output", "reason"),
    [
        (
            "error: git upload-pack: git-pack-objects died with error.\n"
            "fatal: git upload-pack: aborting due to possible repository corruption on the remote side.\n"
            "remote: fatal: unable to read 0123456789012345678901234567890123456789\n"
            "remote: aborting due to possible repository corruption on the remote side.\n"
            "fatal: protocol error: bad pack header\n",
            "unable to read 0123456789012345678901234567890123456789",
        ),
        (
            "remote: Compressing objects: 100% (3/3), done.\nremote: warning: suboptimal pack - out of memory\n"
            "error: git upload-pack: git-pack-objects died with error.\nfatal: early EOF\n",
            "warning: suboptimal pack - out of memory",
        ),
        (
            "fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output\n",
            "write error: No space left on device",
        ),
        ("fatal: early EOF\nfatal: index-pack failed\n", "early EOF"),
        ("warning: x\nno idea\n", "no idea"),
        ("remote: error: hook declined\nerror: failed to push some refs to 'x'\n", "hook declined"),
        ("", "exit code 128"),
    ],
    ids=["unreadable object", "remark of the remote", "full disk", "consequences only", "no error", "hook", "nothing"],
)
def test_the_cause_is_told_and_not_its_consequence(fails, output, reason):
    assert fails(output) == f"git fetch: {reason}"
