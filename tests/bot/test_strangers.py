"""Pull requests, files and servers of strangers: what they try beside a token."""

from __future__ import annotations

import json

import pytest
from bot.conftest import BROKEN, CLEAN, CONFIGURATION, run_git
from bot.gitlab_server import GitLab
from bot.serving import TOKEN, Answer, Api

from devfix.bot import transport
from devfix.bot.analysis import _is_plain
from devfix.bot.artifact import Artifact, write
from devfix.bot.environment import Token
from devfix.bot.gitlab import GitLabForge
from devfix.bot.push import Remote, _credential_helper
from devfix.bot.skip_reasons import BotError
from devfix.vcs.commits import Commit, list_item
from devfix.vcs.git import Git, GitError

VERIFIED = CONFIGURATION + '[tool.devfix.bot.verify]\nscript = "train.py"\n'


# --- analysis beside a token ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("repository_of_head", [{"full_name": "eve/nets"}, None], ids=["fork", "deleted fork"])
def test_a_fork_is_not_analysed_beside_a_token(bot, job, github, pull, repository_of_head):
    github.pulls[pull]["head"]["repo"] = repository_of_head
    job(pull)

    result = bot("review")

    assert (result.code, github.calls, result.stderr.count("\n")) == (2, [], 1)
    assert "GITHUB_TOKEN is set, so it is not analysed in this job. Use devfix bot review --artifact" in result.stderr


def test_a_script_is_not_run_in_the_job_that_posts(bot, job, github, repository):
    repository.commit(pyproject__toml=VERIFIED, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    job(github.add_pull("topic"))

    result = bot("review")

    assert (result.code, github.calls) == (2, [])
    assert "[tool.devfix.bot.verify] runs code of the pull request, and GITHUB_TOKEN is set" in result.stderr


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
def test_nothing_is_analysed_with_the_rights_of_the_repository(bot, job, github, pull, event):
    job(pull, event=event)

    result = bot("review")

    assert (result.code, github.calls) == (2, [])
    assert f"{event} gives this job write access to the repository" in result.stderr


def test_a_fork_is_analysed_without_a_token(bot, job, github, pull, tmp_path):
    github.pulls[pull]["head"]["repo"] = {"full_name": "eve/nets"}
    job(pull, token="")

    assert bot("review", "--artifact", tmp_path / "claim").code == 0


# --- what a suggestion may contain ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("device", "is_plain"),
    [
        ("'cuda'", True),
        ("DEVICE", True),
        ("self.trainer.device", True),
        ("torch.device('cuda', 0)", True),
        ("torch.device(config.device)", True),
        ("torch.device(open('/etc/passwd').read())", False),
        ("__import__('os').system('id')", False),
        ("(lambda: 'cuda')()", False),
        ("__import__('os').environ", False),
        ("f'{leak()}'", False),
        ("torch.device(*leak())", False),
        ("other.torch.device('cuda')", False),
    ],
)
def test_a_device_of_a_pull_request_is_a_name(device, is_plain):
    assert _is_plain(device) is is_plain


def test_a_device_that_a_pull_request_configures_is_in_no_suggestion(bot, job, github, repository):
    text = BROKEN.replace('device = torch.device("cuda")\n', "").replace(".to(device)", ".cuda()")
    repository.commit(pyproject__toml=CONFIGURATION, train__py="import torch\n")
    repository.branch("topic")
    evil = "device = \"__import__('os').system('id')\"\n"
    repository.commit(train__py=text, pyproject__toml=f"[tool.devfix]\n{evil}{CONFIGURATION}")
    number = github.add_pull("topic")
    job(number)

    assert bot("review").code == 0
    assert "__import__" not in json.dumps([github.reviews[number], github.inline.get(number)])


# --- artifacts ------------------------------------------------------------------------------------------------------
def test_an_artifact_is_written_through_no_link(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").symlink_to(tmp_path / "mine")
    (tmp_path / "link").symlink_to(tmp_path / "out")

    write(Artifact({}, b""), str(tmp_path / "out"))
    with pytest.raises(BotError, match="is a link"):
        write(Artifact({}, b""), str(tmp_path / "link"))

    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / "out" / "manifest.json").read_text() == "{}\n"


# --- commits --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "fixes eve/other#1.py",
        "@ann.py",
        "a\nSigned-off-by: Ann",
        "a\r\nb",
        "https://evil.example",
        "GH-7",
        "!7",
        "\u202e",
    ],
)
def test_a_line_of_a_commit_message_mentions_nobody(text):
    line = list_item(text)

    assert not any(part in line for part in ("#1", "@ann", "\n", "\r", "://", "GH-7", "!7", "\u202e"))


def test_names_of_files_close_no_issue_of_others(bot, github, job, repository):
    name = "fixes eve/other#1 @ann.py"
    repository.commit(pyproject__toml=CONFIGURATION, **{name: BROKEN})
    job(event="schedule")

    result = bot("open")

    assert result.code == 0, result.stderr
    message = run_git("log", "-1", "--format=%B", "devfix/device", cwd=repository.bare)
    assert "fixes eve/other" in message and "#1" not in message and "@ann" not in message


def test_a_push_does_not_bring_back_what_somebody_removed(repository, monkeypatch):
    """Between the check of the branch and the push, a person resets it to an earlier commit."""
    repository.commit(train__py=CLEAN)
    repository.branch("topic")
    first = repository.commit(train__py=BROKEN)
    parent = repository.commit(secret__py="TOKEN = 1\n")
    (repository.tree / "train.py").write_text(CLEAN)
    patch = repository.git("diff").encode() + b"\n"
    remote = Remote(f"file://{repository.bare}", Token(""))
    run = remote._run_authenticated

    def meanwhile(git, *arguments):
        if arguments[0] == "push":
            run_git("update-ref", "refs/heads/topic", first, cwd=repository.bare)
        return run(git, *arguments)

    monkeypatch.setattr(remote, "_run_authenticated", meanwhile)

    with pytest.raises(BotError, match="failed to push"):
        remote.push(Commit(parent, patch, "fix", "A <a@b>", "bot topic"), "topic", is_bot_branch=False)
    assert run_git("rev-parse", "topic", cwd=repository.bare) == first


# --- servers --------------------------------------------------------------------------------------------------------
def test_git_gives_the_token_to_its_server_only(tmp_path):
    with _credential_helper("https://github.test/lab/nets.git", Token(TOKEN)) as (settings, pipe):
        git = Git(str(tmp_path), lock=pipe)
        with pytest.raises(GitError):
            git(*settings, "credential", "fill", stdin="protocol=https\nhost=eve.test\n\n")
        asked = git(*settings, "credential", "fill", stdin="protocol=https\nhost=github.test\n\n")
    assert f"password={TOKEN}" in asked


def test_a_list_that_never_ends_ends(bot, job, github, pull, monkeypatch):
    monkeypatch.setattr(transport, "MAX_REQUESTS", 20)
    first_page = github._page
    monkeypatch.setattr(github, "_page", lambda found, query, path: first_page(found, {**query, "page": 1}, path))
    for _ in range(100):
        github.say(pull, "hello")
    job(pull)

    result = bot("review")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "do the pages ever end?" in result.stderr


def test_an_answer_that_is_nested_too_deeply_is_told(bot, job, github, pull):
    github.troubles.append(("GET", Answer(200, b"[" * 200_000)))
    job(pull)

    result = bot("review")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "unexpected response" in result.stderr


def test_an_answer_without_an_end_is_told(bot, job, github, pull, monkeypatch):
    monkeypatch.setattr(transport, "_MAX_BYTES", 1000)
    github.troubles.append(("GET", Answer(200, b" " * 2000)))
    job(pull)

    assert "the response has more than" in bot("review").stderr


def test_a_server_that_gitlab_redirects_to_gets_no_token(repository):
    api, other = GitLab(repository.bare), Api()
    forge = GitLabForge(api.url, "lab/nets", TOKEN, False, print)
    try:
        api.troubles.append(("GET", Answer(302, None, Location=f"{other.url}/api")))
        with pytest.raises(BotError, match="names another server"):
            forge.pull(1)
        assert other.calls == []
    finally:
        forge.disconnect()
        api.stop()
        other.stop()


def test_the_environment_s_proxy_is_used(monkeypatch):
    monkeypatch.setenv("https_proxy", "proxy.test:3128")
    monkeypatch.setenv("no_proxy", "inside.test")

    assert transport._proxy("https://github.test/api") == "http://proxy.test:3128"
    assert transport._proxy("https://inside.test/api") is None
    assert transport._proxy("http://github.test/api") is None


# --- words ----------------------------------------------------------------------------------------------------------
def test_a_stranger_s_configuration_begins_no_line_of_the_log(bot, job, repository, github):
    repository.commit(pyproject__toml='[tool.devfix]\n"a\\n::error::spoof" = 1\n' + CONFIGURATION, train__py=BROKEN)
    repository.branch("topic")
    repository.commit(train__py=CLEAN)
    job(github.add_pull("topic"))

    result = bot("review")

    assert result.code == 2 and result.stderr.startswith("devfix: ")
    assert result.stderr.count("\n") == 1
