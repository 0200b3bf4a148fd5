"""``result = "pull-request"`` of a plan: the branch is pushed, and proposed."""

from __future__ import annotations

import pytest
from bot.conftest import BROKEN, CLEAN
from bot.serving import TOKEN

from devfix.bot.branches import parse_forge_url
from devfix.bot.skip_reasons import BotError
from devfix.cli import main
from devfix.migrate.task import Publishing, Task
from devfix.migrate.work import migrate


@pytest.fixture
def task(repository, github, tmp_path, monkeypatch):
    repository.commit(train__py=BROKEN)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "nets.git").symlink_to(repository.bare)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    source = github.url.replace("://", f"://x-access-token:{TOKEN}@") + "/git/lab/nets.git"
    folders = {"mirrors": str(tmp_path / "mirrors"), "scratch": str(tmp_path / "scratch")}
    return Task(0, "nets", source, publishing=Publishing("pull-request"), **folders)


def test_a_pull_request_is_opened_and_kept(task, github, repository):
    record = migrate(task)

    (number,) = github.pulls
    assert record.reason == "" and record.published.kind == "pull-request"
    assert github.pulls[number]["head"]["ref"] == "devfix/device" and github.pulls[number]["draft"]
    body = github.pulls[number]["body"]
    assert "DEV102" in body and str(task.scratch) not in body and "`train.py:7`" in body
    assert TOKEN not in record.line()

    github.calls.clear()
    assert migrate(task).published.url == record.published.url != ""
    assert github.writes() == []


def test_what_was_closed_is_not_opened_again(task, github):
    migrate(task)
    next(iter(github.pulls.values()))["state"] = "closed"

    assert "has the same patch and was closed" in migrate(task).reason


def test_nothing_to_repair_proposes_nothing(task, github, repository):
    repository.commit(train__py=CLEAN)

    assert migrate(task).outcome.value == "clean"
    assert github.calls == []


def test_no_token_is_told(task, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKEN")

    assert "no pull request was opened: no token" in migrate(task).reason


@pytest.mark.parametrize(
    ("url", "words"),
    [
        pytest.param("https://github.com/lab/nets.git", "no token for https://api.github.com", id="no-token"),
        pytest.param("https://ann:secret@code.lab.org/nets.git", "is it GitHub or GitLab", id="unknown-host"),
    ],
)
def test_nothing_is_done_where_nothing_can_be_proposed(repository, capfd, tmp_path, monkeypatch, url, words):
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "DEVFIX_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    plan = tmp_path / "plan.toml"
    plan.write_text(f'[defaults]\nresult = "pull-request"\n[[repository]]\nurl = "{url}"\n')

    with pytest.raises(SystemExit) as exited:
        main(["migrate", str(plan), "--out", str(tmp_path / "out")])

    told = capfd.readouterr().err
    assert (exited.value.code, words in told, "secret" in told) == (2, True, False)
    assert not (tmp_path / "out" / "state.sqlite").exists()


@pytest.mark.parametrize(
    ("source", "kind", "api", "name"),
    [
        ("https://github.com/lab/nets.git", "github", "https://api.github.com", "lab/nets"),
        ("git@github.com:lab/nets.git", "github", "https://api.github.com", "lab/nets"),
        ("ssh://git@github.com:22/lab/nets", "github", "https://api.github.com", "lab/nets"),
        ("https://gitlab.com/lab/group/nets", "gitlab", "https://gitlab.com", "lab/group/nets"),
        ("https://code.lab.org/lab/nets.git", "gitlab", "https://code.lab.org", "lab/nets"),
    ],
)
def test_hosts(source, kind, api, name):
    around = parse_forge_url(source, {"CI_SERVER_URL": "https://code.lab.org"})

    assert (around.kind, around.api, around.repository) == (kind, api, name)


def test_an_unknown_host_is_told():
    with pytest.raises(BotError, match="is it GitHub or GitLab"):
        parse_forge_url("https://code.lab.org/lab/nets.git", {})
