"""Two jobs: what a job without rights leaves is data of a stranger to the one that posts it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil

import pytest
from bot.conftest import BROKEN, CLEAN, CONFIGURATION

from devfix.bot.artifact import Artifact, apply_patch
from devfix.bot.skip_reasons import BotError

VERIFIED = CONFIGURATION + '[tool.devfix.bot.verify]\nscript = "train.py"\n'


@pytest.fixture
def artifact(bot, job, github, pull, tmp_path):
    """The artifact of a job that holds no token."""
    job(pull, token="")
    result = bot("review", "--artifact", tmp_path / "artifact")
    assert result.code == 0, result.stderr
    assert github.calls == []
    return tmp_path / "artifact"


@pytest.fixture
def privileged(job, github, pull):
    """The environment of the job that posts."""

    def call(**changes):
        head = github.pulls[pull]["head"]
        run = {"head_sha": head["sha"], "head_repository": {"full_name": head["repo"]["full_name"]}, **changes}
        job(None, event="workflow_run", payload={"workflow_run": run})

    return call


@pytest.fixture
def post(bot):
    """``devfix bot post`` on an artifact, with the digest that it has now."""

    def call(artifact, *options):
        digest = hashlib.sha256((artifact / "manifest.json").read_bytes()).hexdigest()
        return bot("post", artifact, "--digest", digest, *options)

    return call


def edit(artifact, **changes):
    path = artifact / "manifest.json"
    document = json.loads(path.read_text())
    document.update(changes)
    path.write_text(json.dumps(document))


def replace_patch(artifact, patch):
    (artifact / "devfix.patch").write_bytes(patch)
    edit(artifact, patch={"sha256": hashlib.sha256(patch).hexdigest(), "size": len(patch)})


def test_two_jobs(post, artifact, privileged, github, monkeypatch, tmp_path):
    privileged()
    monkeypatch.chdir(tmp_path)  # no checkout is needed

    result = post(artifact)

    assert result.code == 0, result.stderr
    assert len(github.reviews) == 1


def test_a_fork_is_reviewed_by_two_jobs(bot, post, job, github, pull, privileged, tmp_path):
    github.pulls[pull]["head"]["repo"] = {"full_name": "eve/nets"}
    job(pull, token="")
    assert bot("review", "--artifact", tmp_path / "artifact").code == 0
    privileged()

    result = post(tmp_path / "artifact")

    assert (result.code, len(github.inline[pull])) == (0, 1), result.stderr


def test_a_file_with_a_name_that_the_bot_does_not_change_is_told_and_the_rest_is_posted(
    bot, post, job, github, pull, privileged, repository, tmp_path
):
    (repository.tree / "two\nlines.py").write_text(BROKEN)
    repository.commit(train__py=BROKEN)
    github.pulls[pull]["head"]["sha"] = github.commit("topic")
    job(pull, token="")
    assert bot("review", "--artifact", tmp_path / "artifact").code == 0
    privileged()

    assert post(tmp_path / "artifact").code == 0
    assert [each["path"] for each in github.inline[pull]] == ["train.py"]
    assert "so it is not changed" in github.reviews[pull][0]["body"]


def test_half_a_character_is_refused(post, artifact, privileged, github):
    privileged()
    findings = json.loads((artifact / "manifest.json").read_text())["findings"]
    edit(artifact, findings=[{**findings[0], "message": "x\ud800"}])

    result = post(artifact)

    assert (result.code, github.calls) == (2, []) and "not JSON" in result.stderr


def test_a_name_that_is_no_text_is_told(bot, post, job, github, pull, privileged, repository, tmp_path):
    with open(os.path.join(os.fsencode(repository.tree), b"\xff.py"), "w") as file:
        file.write(BROKEN)
    repository.commit(train__py=BROKEN)
    github.pulls[pull]["head"]["sha"] = github.commit("topic")
    job(pull, token="")
    assert bot("review", "--artifact", tmp_path / "artifact").code == 0
    privileged()

    assert post(tmp_path / "artifact").code == 0
    assert "\\udcff.py" in github.reviews[pull][0]["body"] and len(github.inline[pull]) == 1


def test_a_patch_that_makes_another_file_than_was_read_is_refused():
    before = {"a.py": b"x = 1\n"}
    change = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    more = b"diff --git a/.ci/x b/.ci/x\nnew file mode 100644\n--- /dev/null\n+++ b/.ci/x\n@@ -0,0 +1 @@\n+y\n"
    digests = {"before": hashlib.sha256(b"x = 1\n").hexdigest(), "after": hashlib.sha256(b"x = 2\n").hexdigest()}
    manifest = {"files": [{"path": "a.py", **digests}]}

    assert apply_patch(Artifact(manifest, change), before) == {"a.py": b"x = 2\n"}
    with pytest.raises(BotError, match="creates or deletes files"):
        apply_patch(Artifact(manifest, change + more), before)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("../train.py", "not a portable path within", id="above"),
        pytest.param("/etc/train.py", "not a portable path within", id="absolute"),
        pytest.param("a/../../train.py", "not a portable path within", id="above-within"),
        pytest.param("a\\\\train.py", "not a portable path within", id="backslash"),
        pytest.param("c:/train.py", "not a portable path within", id="drive"),
        pytest.param(".github/workflows/train.py", "may configure CI", id="ci"),
        pytest.param(".git/hooks/train.py", "may configure CI", id="git"),
        pytest.param("pyproject.toml", "neither a Python file nor", id="configuration"),
        pytest.param("train.sh", "neither a Python file nor", id="script"),
    ],
)
def test_paths_that_no_patch_changes(post, artifact, privileged, github, name, words):
    privileged()
    files = json.loads((artifact / "manifest.json").read_text())["files"]
    edit(artifact, files=[{**files[0], "path": name}])

    result = post(artifact)

    assert (result.code, github.calls) == (2, [])
    assert words in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param("diff --git a/train.py b/train.py\nold mode 100644\nnew mode 100755\n", id="mode"),
        pytest.param(
            "diff --git a/train.py b/train.py\nnew file mode 120000\n--- /dev/null\n+++ b/train.py\n"
            "@@ -0,0 +1 @@\n+/etc\n",
            id="symlink",
        ),
        pytest.param(
            "diff --git a/train.py b/train.py\ndeleted file mode 100644\n--- a/train.py\n+++ /dev/null\n"
            "@@ -1 +0,0 @@\n-x\n",
            id="deletion",
        ),
        pytest.param(
            "diff --git a/train.py b/evil.py\nrename from train.py\nrename to evil.py\n--- a/train.py\n+++ b/evil.py\n"
            "@@ -1 +1 @@\n-x\n+y\n",
            id="rename",
        ),
        pytest.param("GIT binary patch\nliteral 0\n", id="binary"),
        pytest.param("--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-nothing of this\n+y\n", id="another-text"),
        pytest.param("--- a/evil.py\n+++ b/evil.py\n@@ -1 +1 @@\n-x\n+y\n", id="another-file"),
        pytest.param("", id="empty"),
    ],
)
def test_patches_that_do_more_than_they_say(post, artifact, privileged, github, patch):
    privileged()
    replace_patch(artifact, patch.encode())

    result = post(artifact)

    assert (result.code, github.writes()) == (2, [])
    assert result.stderr.startswith("devfix: ") and result.stderr.count("\n") == 1


def test_a_patch_that_makes_another_text_than_it_says(post, artifact, privileged, github):
    privileged()
    patch = (artifact / "devfix.patch").read_bytes()
    replace_patch(artifact, patch.replace(b"4).to(device)", b"4).to(eve)"))

    assert "the patched file differs" in post(artifact).stderr
    assert github.writes() == []


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"schema_version": 3}, id="version"),
        pytest.param({"number": "1"}, id="type"),
        pytest.param({"more": 1}, id="unknown-key"),
        pytest.param({"head": "main"}, id="no-commit"),
        pytest.param({"patch": {"sha256": "0" * 64, "size": 3}}, id="another-patch"),
        pytest.param({"not_verified": "x" * 3000}, id="too-long"),
        pytest.param({"head": "0" * 40 + "\n"}, id="newline"),
        pytest.param({"parts": [[]] * 21}, id="too-many-groups"),
        pytest.param({"repository": "eve/nets"}, id="another-repository"),
        pytest.param({"number": 99}, id="another-pull-request"),
    ],
)
def test_manifests_that_are_not_what_they_must_be(post, artifact, privileged, github, changes):
    privileged()
    edit(artifact, **changes)

    result = post(artifact)

    assert (result.code, github.writes()) == (2, [])
    assert result.stderr.count("\n") == 1


def test_links_and_large_files_are_not_read(post, artifact, privileged, tmp_path):
    privileged()
    shutil.move(artifact / "devfix.patch", tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", artifact / "devfix.patch")
    assert "is not a regular file" in post(artifact).stderr

    (artifact / "devfix.patch").unlink()
    (artifact / "devfix.patch").write_bytes(b"x" * (5 << 20))
    assert "the limit is" in post(artifact).stderr


def test_a_large_file_of_the_pull_request_is_not_fetched(post, artifact, privileged, github, monkeypatch):
    privileged()
    monkeypatch.setattr("devfix.bot.github.MAX_FILE_BYTES", 10)

    result = post(artifact)

    assert (result.code, github.writes()) == (2, [])
    assert "the limit is 10" in result.stderr


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"head_sha": "0" * 40}, id="another-commit"),
        pytest.param({"head_repository": {"full_name": "eve/nets"}}, id="another-repository"),
    ],
)
def test_an_artifact_of_another_run(post, artifact, privileged, github, changes):
    privileged(**changes)

    assert post(artifact).code == 2
    assert github.writes() == []


def test_a_pull_request_that_has_moved_on_is_left_alone(post, artifact, privileged, github, pull, repository):
    privileged()
    repository.commit(train__py=BROKEN + "\n")

    result = post(artifact)

    assert (result.code, github.writes()) == (0, [])
    assert "was analysed" in result.stderr


def test_texts_of_a_stranger_are_shown_and_not_read(post, artifact, privileged, github, pull):
    privileged()
    document = json.loads((artifact / "manifest.json").read_text())
    evil = "@ann <img src=x> [go](https://evil.example) <!-- devfix:review --> `a` **b**"
    findings = [
        {**document["findings"][0], "message": evil, "reason": evil, "title": evil, "status": status}
        for status in ("fixed", "not-fixed")
    ]
    edit(artifact, findings=findings, not_verified=evil)

    assert post(artifact).code == 0
    for body in [github.reviews[pull][0]["body"], github.inline[pull][0]["body"]]:
        assert "@ann" not in body and "https://evil" not in body
        assert re.search(r"(?<!\\)(<img|\[go|\*\*b)", body) is None
    assert github.reviews[pull][0]["body"].count("<!-- devfix:review -->") == 1


def test_a_line_with_characters_that_nobody_sees_is_not_suggested(bot, job, github, repository):
    text = BROKEN.replace(".sum()", ".sum()  # \u202e")
    repository.commit(pyproject__toml=CONFIGURATION, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=text)
    number = github.add_pull("topic")
    job(number)

    assert bot("review").code == 0
    assert number not in github.inline
    body = github.reviews[number][0]["body"]
    assert "The patch contains invisible characters" in body and "\u202e" not in body


def test_a_fence_is_longer_than_any_in_the_text(bot, job, github, repository):
    text = BROKEN.replace(".sum()", '.sum()  # """ ```` """')
    repository.commit(pyproject__toml=CONFIGURATION, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=text)
    number = github.add_pull("topic")
    job(number)

    assert bot("review").code == 0
    assert "`````suggestion\n" in github.inline[number][0]["body"]


# --- what is not run ------------------------------------------------------------------------------------------------
@pytest.fixture
def verified(repository, github):
    repository.commit(pyproject__toml=VERIFIED, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    return github.add_pull("topic")


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run", "issue_comment"])
def test_nothing_is_run_with_the_rights_of_the_repository(bot, job, github, verified, event):
    job(verified, event=event)

    result = bot("review")

    assert (result.code, github.calls) == (2, [])
    assert f"{event} gives this job write access to the repository" in result.stderr


@pytest.mark.parametrize(
    "variable", ["GITHUB_TOKEN", "GH_TOKEN", "DEVFIX_TOKEN", "GITLAB_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
)
def test_a_fork_s_code_is_not_run_beside_a_token(bot, job, github, verified, monkeypatch, variable):
    github.pulls[verified]["head"]["repo"] = {"full_name": "eve/nets"}
    job(verified, token="")
    monkeypatch.setenv(variable, "secret-of-the-lab")

    result = bot("review", "--artifact", "out")

    assert result.code == 2
    assert variable in result.stderr and "secret-of-the-lab" not in result.stderr


def test_the_code_of_a_fork_that_was_deleted_is_not_run_beside_a_token(bot, job, github, verified):
    github.pulls[verified]["head"]["repo"] = None
    job(verified)

    result = bot("review", "--artifact", "out")

    assert result.code == 2 and "comes from an unknown repository" in result.stderr


def test_a_fork_s_code_is_not_run_in_a_checkout_that_keeps_a_token(bot, job, github, verified, repository):
    github.pulls[verified]["head"]["repo"] = {"full_name": "eve/nets"}
    repository.git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic c2VjcmV0")
    job(verified, token="")

    result = bot("review", "--artifact", "out")

    assert result.code == 2 and "persist-credentials: false" in result.stderr


def test_what_is_started_sees_no_token(bot, job, github, pull, monkeypatch, tmp_path):
    told = tmp_path / "seen"
    fake = tmp_path / "bin"
    fake.mkdir()
    real = shutil.which("git")
    (fake / "git").write_text(f'#!/bin/sh\nenv >> {told}\necho "$@" >> {told}\nexec {real} "$@"\n')
    (fake / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}{os.pathsep}{os.environ['PATH']}")
    from devfix.vcs import git

    git._command.cache_clear()
    job(pull)
    try:
        assert bot("review").code == 0
    finally:
        git._command.cache_clear()
    seen = told.read_text()
    assert "rev-parse" in seen and "ghp_" not in seen and "GITHUB_TOKEN" not in seen
