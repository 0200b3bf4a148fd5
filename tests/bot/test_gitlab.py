"""The bot on GitLab: the same dialogue in other words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bot.conftest import BROKEN, CLEAN, CONFIGURATION
from bot.gitlab_server import REPOSITORY, GitLab
from bot.serving import TOKEN, Answer

from devfix.bot.migration import HostedForges
from devfix.migrate.changes import Change, ChangeState
from devfix.migrate.proposing import Progress, Refused
from devfix.migrate.task import Publishing, Task
from devfix.migrate.work import migrate as work

pytestmark = pytest.mark.sample(5)  # each takes seconds

FIXED = "    loss = model(torch.randn(8, 4).to(device)).sum()"


@pytest.fixture
def gitlab(repository):
    api = GitLab(repository.bare)
    yield api
    api.stop()


@pytest.fixture
def job(gitlab, monkeypatch, repository):
    """Set the environment of a job, for a merge request where one is named."""

    def call(number=None, source="schedule", fork=REPOSITORY):
        monkeypatch.setenv("CI_PROJECT_PATH", REPOSITORY)
        monkeypatch.setenv("CI_SERVER_URL", gitlab.url)
        monkeypatch.setenv("CI_COMMIT_SHA", repository.git("rev-parse", "HEAD"))
        monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
        if number is not None:
            refs = gitlab._request(number)["diff_refs"]
            monkeypatch.setenv("CI_PIPELINE_SOURCE", "merge_request_event")
            monkeypatch.setenv("CI_MERGE_REQUEST_IID", str(number))
            monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", refs["base_sha"])
            monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", fork)

    return call


@pytest.fixture
def request_number(repository, gitlab):
    repository.commit(pyproject__toml=CONFIGURATION, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    return gitlab.add_request("topic")


def test_suggestions_are_published_as_one(bot, job, gitlab, request_number):
    job(request_number)

    result = bot("review")

    assert result.code == 0, result.stderr
    (discussion,) = gitlab.discussions[request_number]
    note = discussion["notes"][0]
    assert f"```suggestion:-0+0\n{FIXED}\n```" in note["body"]
    assert (note["position"]["new_path"], note["position"]["new_line"]) == ("train.py", 7)
    assert "DEV102" in gitlab.notes[request_number][0]["body"]
    assert sum(path.endswith("bulk_publish") for _, path in gitlab.writes()) == 1


def test_a_second_run_says_nothing_new(bot, job, gitlab, request_number):
    for number in range(5):
        gitlab.say(request_number, f"remark {number}")
    job(request_number)
    bot("review")
    gitlab.calls.clear()

    assert bot("review").code == 0
    assert gitlab.writes() == []


def test_what_is_not_needed_any_more_says_so(bot, job, gitlab, request_number, repository):
    job(request_number)
    bot("review")
    repository.commit(train__py=CLEAN.replace("range(4)", "range(5)"))
    job(request_number)

    assert bot("review").code == 0
    assert "obsolete" in gitlab.discussions[request_number][0]["notes"][0]["body"]


def test_stop(bot, job, gitlab, request_number):
    gitlab.say(request_number, "stop")
    job(request_number)

    assert "ann stopped devfix" in bot("review").stderr
    assert gitlab.writes() == []


def test_a_commit_is_pushed(bot, job, gitlab, repository):
    repository.commit(pyproject__toml=CONFIGURATION + 'mode = "commit"\n', train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    job(gitlab.add_request("topic"))

    result = bot("review")

    assert result.code == 0, result.stderr
    assert FIXED in repository.there("topic", "train.py")


def test_a_fork_s_code_is_not_run_beside_a_token(bot, job, gitlab, repository):
    verify = '[tool.devfix.bot.verify]\nscript = "train.py"\n'
    repository.commit(pyproject__toml=CONFIGURATION + verify, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    job(gitlab.add_request("topic"), fork="eve/nets")

    assert "the code comes from eve/nets, and GITLAB_TOKEN" in bot("review").stderr
    assert gitlab.calls == []


@pytest.fixture
def main(repository, job):
    repository.commit(pyproject__toml=CONFIGURATION, train__py=BROKEN)
    job()
    return repository


def test_a_merge_request_is_opened_kept_up_to_date_and_closed(bot, gitlab, main, job):
    assert bot("open").code == 0
    (found,) = gitlab.requests.values()
    assert found["title"] == "Draft: fix(device): tensor-without-device"
    assert (found["labels"], "### Evidence" in found["description"]) == (["devfix"], True)

    gitlab.calls.clear()
    assert "is up to date" in bot("open").stderr
    assert gitlab.writes() == []

    main.commit(train__py=BROKEN + "\nloss = model(torch.ones(2, 4))\n")
    job()
    assert "updated #" in bot("open").stderr
    assert found["title"] == "Draft: fix(device): tensor-without-device in 2 places"

    main.commit(train__py=CLEAN)
    job()
    assert "closed #" in bot("open").stderr
    assert (found["state"], main.branches()) == ("closed", ["main"])


def test_a_conflict_is_one_line(bot, gitlab, main):
    gitlab.troubles.append(("POST", Answer(409, {"message": "Another open merge request already exists"})))

    result = bot("open")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "409" in result.stderr


def test_limits_are_waited_for_and_not_for_ever(bot, gitlab, main):
    gitlab.troubles.append(("POST", Answer(429, {"message": "Too Many Requests"}, Retry_After=1)))
    assert bot("open").code == 0

    gitlab.troubles.append(("GET", Answer(429, {"message": "Too Many Requests"}, Retry_After=3600)))
    assert "run again in 60 min" in bot("open").stderr


def test_a_dry_run_writes_nothing(bot, gitlab, main):
    result = bot("open", "--dry-run")

    assert result.code == 0, result.stderr
    assert (gitlab.writes(), main.branches()) == ([], ["main"])
    assert f"POST {gitlab.url}/api/v4/projects/lab%2Fnets/merge_requests (not sent)" in result.stderr


@pytest.fixture
def proposed(gitlab, repository, monkeypatch, tmp_path):
    """The record of a repaired repository and its merge request, which is not opened yet."""
    repository.commit(train__py=BROKEN)
    monkeypatch.setenv("CI_SERVER_URL", gitlab.url)
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    folders = {"mirrors": str(tmp_path / "mirrors"), "scratch": str(tmp_path / "scratch")}
    publishing = Publishing("pull-request", labels=("bug",), reviewers=("ann",), draft=False)
    task = Task(0, "nets", str(repository.bare), publishing=publishing, **folders)
    return replace(work(task), repository=f"{gitlab.url}/lab/nets.git"), Change.of(task)


def test_a_merge_request_of_a_migration_is_opened_watched_and_merged(proposed, gitlab, repository):
    record, change = proposed
    forges = HostedForges()

    opened = forges.open(record, change)
    url, commit = opened.url, opened.commit
    ((number, request),) = gitlab.requests.items()
    assert (url, request["labels"], gitlab.reviewers[number]) == (request["web_url"], ["bug"], [7])
    assert repository.there("devfix/device", "train.py") and commit == gitlab._request(number)["sha"]

    change = replace(change, url=url, commit=commit)
    assert forges.progress(record, change) == Progress(ChangeState.OPEN)
    request.update(head_pipeline={"status": "success"})
    gitlab.approved[number] = [{"user": {"id": 7}}]
    assert forges.progress(record, change) == Progress(ChangeState.OPEN, "passed", "approved")
    with pytest.raises(Refused, match="settings decide about rebasing"):
        forges.merge(record, change, "rebase")
    forges.merge(record, change, "squash")
    assert forges.progress(record, change) == Progress(ChangeState.MERGED)


def test_a_merge_request_of_a_migration_is_closed(proposed, gitlab, repository):
    record, change = proposed
    forges = HostedForges()
    opened = forges.open(record, change)
    change = replace(change, url=opened.url, commit=opened.commit)

    forges.close(record, change, "not now")

    ((number, request),) = gitlab.requests.items()
    assert (request["state"], repository.branches()) == ("closed", ["main"])
    assert gitlab.notes[number][-1]["body"] == "not now"


def test_groups_that_cannot_review_are_told(proposed, gitlab):
    record, change = proposed

    opened = HostedForges().open(record, replace(change, reviewers=("ann", "lab/core")))

    assert opened.url and list(gitlab.reviewers.values()) == [[7]]
    assert opened.problem.endswith("not users, so they cannot review: lab/core")
