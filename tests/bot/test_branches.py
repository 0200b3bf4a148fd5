"""``result = "pull-request"`` of a plan: the branch is pushed, and proposed."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from bot.conftest import CLEAN
from bot.serving import TOKEN, Answer

from devfix.bot.branches import parse_forge_url
from devfix.bot.environment import read_environment
from devfix.bot.migration import HostedForges
from devfix.bot.skip_reasons import BotError
from devfix.cli import main
from devfix.migrate.plan import read_plan
from devfix.migrate.proposing import ForgeError
from devfix.migrate.work import migrate as work

pytestmark = pytest.mark.sample(11)  # each takes seconds


def test_a_pull_request_is_opened_and_kept(plan, migrate, github, repository, tmp_path):
    path = plan("main", labels=["bug"], reviewers=["ann", "lab/core"])
    migrate(path)

    ((number, pull),) = github.pulls.items()
    assert pull["head"]["ref"] == "devfix/device-main" and pull["base"]["ref"] == "main" and pull["draft"]
    assert (pull["labels"], pull["reviewers"]) == (["bug"], ["ann", "core"])
    assert "DEV102" in pull["body"] and "`train.py:7`" in pull["body"] and str(tmp_path) not in pull["body"]
    assert "device" in repository.there("devfix/device-main", "train.py")
    (record,) = map(json.loads, (tmp_path / "out" / "records.jsonl").read_text().splitlines())
    assert record["published"]["url"].endswith(f"/pull/{number}")
    assert not any(TOKEN.encode() in file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())

    github.calls.clear()
    migrate(path)
    assert github.calls == []


def test_workers_need_no_token(plan, github, tmp_path, monkeypatch):
    """The worker of a cluster makes the patch; the main machine pushes and proposes it."""
    (task,) = read_plan(plan("main"))
    monkeypatch.delenv("GITHUB_TOKEN")

    record = work(replace(task, mirrors=str(tmp_path / "mirrors"), scratch=str(tmp_path / "scratch")))

    assert (record.outcome.value, record.published, bool(record.patch)) == ("fixed", None, True)
    assert github.calls == []


def test_what_was_closed_is_not_opened_again(plan, migrate, github):
    migrate(plan("main"))
    next(iter(github.pulls.values()))["state"] = "closed"

    told = migrate(plan("main"), "--no-resume", code=1)

    assert "1 pull requests refused" in told and len(github.pulls) == 1
    assert "has the same patch and was closed" in migrate("status", "--changes")


def test_nothing_to_repair_proposes_nothing(plan, migrate, github, repository):
    repository.commit(train__py=CLEAN)

    migrate(plan("main"))

    assert github.writes() == []


@pytest.mark.thorough
def test_pull_requests_beyond_the_limits_wait(plan, migrate, github, repository):
    for branch in ("a", "b", "c"):
        repository.git("push", "-q", "origin", f"main:{branch}")

    told = migrate(plan("main", "a", "b", "c", max_hourly=2))

    assert len(github.pulls) == 2 and sorted(repository.branches()) == ["a", "b", "c", *heads(github), "main"]
    assert "2 pull requests open, 2 pull requests waiting" in told and "max-hourly is 2" in told
    assert "would open" in migrate("open", "--dry-run")
    assert "max-hourly is 2" in migrate("open", code=1)
    migrate("open", "--max-hourly", "50")
    assert len(github.pulls) == 4
    assert "pull requests: 4 open" in migrate("status")


def test_outside_the_window_pull_requests_wait(plan, migrate, github, monkeypatch):
    day = "Mon Tue Wed Thu Fri Sat Sun".split()[(time.gmtime().tm_wday + 3) % 7]

    told = migrate(plan("main", window=f"{day} 00:00-23:59"))

    assert f"pull requests are opened {day} 00:00-23:59 only" in told and github.pulls == {}
    assert "only (window)" in migrate("open", code=1)


def test_a_pull_request_that_somebody_closed_makes_room(plan, migrate, github, repository):
    repository.git("push", "-q", "origin", "main:a")
    assert "max-open is 1" in migrate(plan("main", "a", max_open=1))
    (first,) = github.pulls.values()
    first["state"] = "closed"

    migrate("open")

    assert [pull["state"] for pull in github.pulls.values()] == ["closed", "open"]


def heads(github):
    return sorted(pull["head"]["ref"] for pull in github.pulls.values())


def test_a_new_commit_updates_the_pull_request(plan, migrate, github, repository):
    migrate(plan("main"))
    repository.commit(other__py="x = 1\n")

    migrate(plan("main"))

    assert len(github.pulls) == 1
    assert repository.there("devfix/device-main", "other.py") == "x = 1"


def test_pull_requests_are_listed_and_merged_when_their_checks_passed(plan, migrate, github):
    migrate(plan("main", draft=False))
    (number,) = github.pulls

    github.conclusions = ["success", "failure"]
    assert "open, checks failed" in migrate("status", "--changes")
    assert "its checks: failed" in migrate("merge", code=1)
    github.conclusions = ["success"]
    github.reviews[number] = [{"id": 1, "body": "", "state": "CHANGES_REQUESTED", "user": {"login": "ann"}}]
    assert "a review requests changes" in migrate("merge", code=1)
    github.reviews[number].append({"id": 2, "body": "", "state": "APPROVED", "user": {"login": "ann"}})
    assert "would merge" in migrate("merge", "--dry-run") and github.pulls[number]["merged_at"] is None

    assert "merged" in migrate("merge")

    assert github.pulls[number]["merged_at"]
    assert "pull requests: 1 merged" in migrate("status")


def test_a_draft_is_not_merged(plan, migrate, github):
    migrate(plan("main"))

    assert "it is a draft" in migrate("merge", code=1)


def test_the_work_of_others_on_a_branch_is_neither_merged_nor_deleted(plan, migrate, github, repository):
    migrate(plan("main", draft=False))
    repository.git("fetch", "-q", "origin")
    repository.git("checkout", "-q", "-b", "theirs", "origin/devfix/device-main")
    repository.git("commit", "-q", "--allow-empty", "-m", "mine")
    repository.git("push", "-q", "origin", "theirs:devfix/device-main")
    theirs = repository.git("rev-parse", "theirs")

    assert "somebody else pushed to its branch" in migrate("merge", code=1)
    migrate("close")

    assert [pull["state"] for pull in github.pulls.values()] == ["closed"]
    assert repository.git("ls-remote", "origin", "devfix/device-main").startswith(theirs)


def test_a_pull_request_that_a_person_stopped_is_left_alone(plan, migrate, github):
    migrate(plan("main", draft=False))
    (number,) = github.pulls
    github.say(number, "stop")

    assert "ann stopped devfix" in migrate("merge", code=1)
    assert "ann stopped devfix" in migrate("close", code=1)
    assert github.pulls[number]["state"] == "open"


def test_pull_requests_are_closed_in_one_go(plan, migrate, github, repository):
    migrate(plan("main"))
    (number,) = github.pulls

    assert "would close" in migrate("close", "--dry-run")
    migrate("close", "--comment", "not now")

    assert github.pulls[number]["state"] == "closed" and repository.branches() == ["main"]
    assert github.comments[number][-1]["body"] == "not now"
    assert json.loads(migrate("status", "--output-format", "json"))["changes"]["closed"] == 1


def test_no_connection_leaves_it_waiting(plan, migrate, github, monkeypatch):
    monkeypatch.setattr("githubkit.core.time.sleep", lambda seconds: None)  # githubkit waits before it asks again
    github.troubles = [("POST", Answer(500, {"message": "down"}))] * 10

    assert "1 pull requests waiting" in migrate(plan("main"), code=1)
    assert "1 in pull request: GitHub: a pull request from devfix/device-main: 500 down" in migrate("status")
    github.troubles.clear()
    assert "opened" in migrate("open")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        pytest.param("https://github.com/lab/nets.git", "no token for https://api.github.com", id="no-token"),
        pytest.param("https://ann:secret@code.lab.org/nets.git", "code.lab.org: devfix opens", id="unknown-host"),
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
    assert not (tmp_path / "out" / "state.log").exists()


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


@pytest.mark.parametrize("host", ["bitbucket.org", "code.lab.org"])
def test_an_unknown_host_is_told(host):
    words = f"{host}: devfix opens pull requests on GitHub, GitLab, Gitea and Forgejo only"

    with pytest.raises(BotError, match=words) as raised:
        parse_forge_url(f"git@{host}:lab/nets.git", {})
    assert "\n" not in str(raised.value)


def test_a_job_of_another_host_is_told():
    with pytest.raises(BotError, match="not a job of a supported forge: neither GITHUB_REPOSITORY"):
        read_environment({"CI": "true", "BITBUCKET_REPO_FULL_NAME": "lab/nets"})


@pytest.mark.parametrize(
    "source",
    [
        "https://gitlab.stranger.org/lab/nets.git",
        "https://gitlab.com.stranger.org/lab/nets",
        "https://github.com@stranger.org/lab/nets",
        "https://stranger.org/gitlab.com/nets",
    ],
)
def test_a_host_that_is_called_like_a_forge_gets_no_token(source):
    with pytest.raises(BotError, match="devfix opens pull requests on"):
        parse_forge_url(source, {})


@pytest.mark.parametrize(
    "source", ["ssh://git@github.com:lab/nets", "https://[::1/lab/nets", "https://github.com/lab/../../user"]
)
def test_a_url_that_names_no_repository_is_told(source):
    with pytest.raises(BotError, match=r"is not (a URL|the address of a repository)"):
        parse_forge_url(source, {})


def test_a_token_is_sent_to_one_server_only(monkeypatch):
    monkeypatch.setenv("DEVFIX_TOKEN", TOKEN)
    forges = HostedForges()
    forges.check("https://github.com/lab/nets.git")
    forges.check("https://github.com/lab/other.git")

    with pytest.raises(ForgeError, match=r"the token for https://api.github.com is not sent to https://gitlab.com"):
        forges.check("https://gitlab.com/lab/nets.git")

    monkeypatch.setenv("GITLAB_TOKEN", "another-token")
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.delenv("DEVFIX_TOKEN")
    forges.check("https://gitlab.com/lab/nets.git")
