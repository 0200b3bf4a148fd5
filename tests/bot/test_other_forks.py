"""Pull requests from forks on GitLab and on Gitea."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bot.conftest import BROKEN
from bot.gitea_server import Gitea
from bot.gitlab_server import GitLab
from bot.serving import TOKEN, Answer

from devfix.bot.forks import fork as forks
from devfix.bot.migration import HostedForges
from devfix.migrate.changes import Change, ChangeState
from devfix.migrate.proposing import ForgeError, Refused
from devfix.migrate.task import Publishing, Task
from devfix.migrate.work import migrate as work

pytestmark = pytest.mark.sample(7)  # each takes seconds

BRANCH = "devfix/device"
FORK = "devfix-bot/nets"
NO_ACCESS = {"project_access": {"access_level": 20}, "group_access": None}


@pytest.fixture(params=["gitlab", "gitea"])
def host(request, repository, monkeypatch):
    """A host on which the token's account may not push to the repository."""
    made = GitLab(repository.bare) if request.param == "gitlab" else Gitea(repository.bare)
    made.access, made.may_push = NO_ACCESS, False
    if request.param == "gitlab":
        monkeypatch.setenv("CI_SERVER_URL", made.url)
    else:
        monkeypatch.setenv("GITHUB_API_URL", f"{made.url}/api/v1")
    monkeypatch.setenv("DEVFIX_TOKEN", TOKEN)
    monkeypatch.setattr(forks.time, "sleep", lambda _: None)
    yield made
    made.stop()
    assert made.violations == []


@pytest.fixture
def change(host, repository, tmp_path):
    """The record of a repaired repository, and its pull request, which is not opened yet."""
    repository.commit(train__py=BROKEN)
    folders = {"mirrors": str(tmp_path / "mirrors"), "scratch": str(tmp_path / "scratch")}
    task = Task(0, "nets", str(repository.bare), publishing=Publishing("pull-request", draft=False), **folders)
    record = replace(work(task), repository=f"{host.url}/lab/nets.git")

    def made(fork="auto", owner=""):
        return record, replace(Change.of(task), fork=fork, fork_owner=owner)

    return made


def opened(record, change):
    """The pull request after it was opened."""
    found = HostedForges().open(record, change)
    return replace(change, url=found.url, commit=found.commit, repository=found.repository)


def proposed(host):
    """The only pull request of the host."""
    (found,) = (host.requests if isinstance(host, GitLab) else host.pulls).values()
    return found


def branches(host, name=FORK):
    return host.git("for-each-ref", "--format=%(refname:short)", "refs/heads", repository=name).decode().split()


def made_forks(host):
    return [path for method, path in host.writes() if method == "POST" and path.endswith(("/fork", "/forks"))]


def test_a_fork_is_created_and_the_pull_request_opened_from_it(change, host, repository):
    record, found = change()

    found = opened(record, found)

    assert (found.repository, found.commit) == (FORK, host.commit(BRANCH, FORK))
    assert repository.branches() == ["main"] and len(made_forks(host)) == 1
    assert HostedForges().progress(record, found).state is ChangeState.OPEN


def test_an_existing_fork_and_its_pull_request_are_used(change, host):
    for name in ("ann/nets", "bob/nets", "devfix-bot/nets"):
        host.add_fork(name)
    record, found = change()

    opened(record, found)
    again = opened(record, found)

    assert again.repository == FORK and made_forks(host) == []
    assert proposed(host) and again.commit == host.commit(BRANCH, FORK)


def test_a_repository_to_which_the_token_may_push_is_not_forked(change, host, repository):
    host.access, host.may_push = {"project_access": {"access_level": 30}, "group_access": None}, True
    record, found = change()

    assert opened(record, found).repository == ""
    assert repository.branches() == [BRANCH, "main"] and host.forks == {}


def test_the_fork_may_belong_to_a_group(change, host):
    record, found = change(owner="bots")

    assert opened(record, found).repository == "bots/nets"


@pytest.mark.parametrize(
    ("archived", "refusal", "owner", "words"),
    [
        pytest.param(False, "forbidden by its owner", "", "to devfix-bot: .*forbidden by its owner", id="forbidden"),
        pytest.param(True, None, "", "lab/nets is archived", id="archived"),
        pytest.param(False, None, "lab", "lab owns lab/nets", id="same-account"),
    ],
)
def test_a_repository_that_cannot_be_forked_is_refused(change, host, archived, refusal, owner, words):
    host.archived, host.refuse_fork = archived, refusal
    record, found = change(owner=owner)

    with pytest.raises(Refused, match=words):
        opened(record, found)


def test_a_host_that_is_down_is_no_refusal(change, host):
    host.troubles = [("POST", Answer(500, {"message": "down"}))] * 20
    record, found = change()

    with pytest.raises(ForgeError, match="a fork of lab/nets"):
        opened(record, found)


def test_a_pull_request_of_a_fork_is_merged(change, host):
    record, found = change()
    found = opened(record, found)

    HostedForges().merge(record, found, "squash")

    assert HostedForges().progress(record, found).state is ChangeState.MERGED


def test_closing_deletes_the_branch_and_keeps_the_fork(change, host):
    record, found = change()
    found = opened(record, found)

    HostedForges().close(record, found, "not now")

    assert proposed(host)["state"] == "closed" and branches(host) == ["main"]


@pytest.mark.parametrize("host", ["gitlab"], indirect=True)
def test_gitlab_is_given_time_to_fill_a_fork(change, host):
    host.import_states = ["scheduled", "started", "finished"]
    record, found = change()

    opened(record, found)

    assert host.import_states == []


@pytest.mark.parametrize("host", ["gitlab"], indirect=True)
def test_a_fork_that_gitlab_fails_to_fill_is_refused(change, host):
    host.import_states, host.import_error = ["started", "failed"], "quota"
    record, found = change()

    with pytest.raises(Refused, match="failed to fork lab/nets to devfix-bot/nets: quota"):
        opened(record, found)


@pytest.mark.parametrize("host", ["gitlab"], indirect=True)
def test_a_fork_that_gitlab_never_fills_is_told(change, host, monkeypatch):
    monkeypatch.setattr(forks, "LONGEST_CREATION_S", 1.5)
    host.import_states = ["started"] * 1_000_000
    record, found = change()

    with pytest.raises(Refused, match="has not filled the fork devfix-bot/nets yet"):
        opened(record, found)
