"""The bot on Gitea and Forgejo: reviews are comments and diffs, edited instead of posted again."""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from bot.conftest import BROKEN, CLEAN, CONFIGURATION
from bot.gitea_server import ME, PERSON, REPOSITORY, Gitea
from bot.serving import TOKEN, Answer

from devfix.bot.gitea import GiteaForge
from devfix.bot.skip_reasons import BotError

pytestmark = pytest.mark.sample(7)  # each takes seconds

FIXED = "+    loss = model(torch.randn(8, 4).to(device)).sum()"


@pytest.fixture
def gitea(repository):
    api = Gitea(repository.bare)
    yield api
    api.stop()


@pytest.fixture
def job(gitea, tmp_path, monkeypatch):
    """Set the environment of a job of Gitea's or Forgejo's actions, whose variables are GitHub's."""

    def call(number=None, event="pull_request", token=TOKEN):
        payload = {}
        if number is not None:
            pull = gitea.pulls[number]
            payload = {"pull_request": {"number": number, "head": pull["head"], "base": pull["base"]}}
        (tmp_path / "event.json").write_text(json.dumps(payload))
        monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
        monkeypatch.setenv("GITHUB_API_URL", f"{gitea.url}/api/v1")
        monkeypatch.setenv("GITHUB_EVENT_NAME", event)
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
        monkeypatch.setenv("GITHUB_TOKEN", token)

    return call


@pytest.fixture
def pull(repository, gitea):
    repository.commit(pyproject__toml=CONFIGURATION, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    return gitea.add_pull("topic")


def test_limits_are_waited_for_and_not_for_ever(bot, job, gitea, pull, monkeypatch):
    waits = []
    monkeypatch.setattr("devfix.bot.transport.sleep", waits.append)
    soon = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=290), usegmt=True)
    for given in ({"Retry_After": 7}, {}, {"Retry_After": soon}):
        gitea.troubles.append(("POST", Answer(429, {"message": "Too Many Requests"}, **given)))
    job(pull)

    assert bot("review").code == 0
    assert waits[:2] == [7, 10] and 10 < waits[2] < 291, waits
    assert len(gitea.comments[pull]) == 1

    gitea.troubles.append(("GET", Answer(429, {"message": "Too Many Requests"}, Retry_After=3600)))
    assert "rate limit exceeded: run again in 60 min" in bot("review").stderr
    gitea.troubles += [("GET", Answer(429, {"message": "Too Many Requests"}))] * 4
    assert "rate limit exceeded: run again later" in bot("review").stderr


@pytest.fixture
def forge(gitea):
    made = GiteaForge(f"{gitea.url}/api/v1", REPOSITORY, TOKEN, False, print)
    yield made
    made.disconnect()


def inline(gitea, number):
    return [each for found in gitea.inline.get(number, {}).values() for each in found]


def test_a_review_is_a_comment_and_a_diff_on_its_line(bot, job, gitea, pull):
    job(pull)

    result = bot("review")

    assert result.code == 0, result.stderr
    (comment,) = inline(gitea, pull)
    assert (comment["path"], comment["new_position"], comment["old_position"]) == ("train.py", 7, 0)
    assert FIXED in comment["body"] and "```diff\n-    loss" in comment["body"]
    (body,) = gitea.comments[pull]
    assert "DEV102" in body["body"] and body["user"] == ME


def test_a_second_run_says_nothing_new(bot, job, gitea, pull):
    job(pull)
    bot("review")
    gitea.calls.clear()

    assert bot("review").code == 0
    assert gitea.writes() == []


def test_reviews_after_the_first_page_are_read(bot, job, gitea, pull):
    gitea.reviews[pull] = [{"id": number, "state": "COMMENT", "user": PERSON} for number in range(3)]
    job(pull)
    bot("review")
    gitea.calls.clear()

    assert bot("review").code == 0
    assert gitea.writes() == []


def test_labels_after_the_first_page_are_not_created_again(forge, gitea, pull):
    gitea.labels = [{"id": number, "name": name} for number, name in enumerate(("bug", "docs", "devfix"))]

    forge.add_labels(pull, ["devfix"])

    assert [label["id"] for label in gitea.pulls[pull]["labels"]] == [2]
    assert gitea.writes() == [("POST", f"/repos/{REPOSITORY}/issues/{pull}/labels")]


def test_recent_pull_requests_are_found_by_their_creation(forge, gitea, pull):
    old, moment = "2026-01-02T03:04:05Z", datetime(2026, 2, 1, tzinfo=timezone.utc)
    gitea.add_pull("topic", created_at=old, updated_at="2026-03-02T00:00:00Z")
    new = gitea.add_pull("topic", created_at="2026-02-02T00:00:00Z", updated_at="2026-02-02T00:00:00Z")
    gitea.add_pull("topic", fork="eve/nets", created_at="2026-02-02T00:00:00Z", updated_at="2026-02-03T00:00:00Z")

    assert [found.number for found in forge.pulls_since(moment)] == [new]


def test_a_suggestion_that_is_not_needed_any_more_says_so(bot, job, gitea, pull, repository):
    job(pull)
    bot("review")
    repository.commit(train__py=CLEAN.replace("range(4)", "range(5)"))
    gitea.pulls[pull]["head"]["sha"] = gitea.commit("topic")
    job(pull)

    assert bot("review").code == 0
    assert inline(gitea, pull)[0]["body"].startswith("*This suggestion is obsolete.*")


def test_a_job_of_the_target_branch_recomputes_and_another_one_posts(bot, job, gitea, pull, tmp_path, monkeypatch):
    job(pull, event="pull_request_target", token="")
    made = bot("recompute", "--artifact", tmp_path / "artifact")
    assert (made.code, gitea.calls) == (0, []), made.stderr
    job(pull, event="pull_request_target")
    monkeypatch.chdir(tmp_path)

    result = bot("post", tmp_path / "artifact", "--digest", made.stdout.strip())

    assert result.code == 0, result.stderr
    assert len(inline(gitea, pull)) == 1


def test_a_pull_request_is_opened_labelled_and_closed(bot, job, gitea, repository):
    repository.commit(pyproject__toml=CONFIGURATION, train__py=BROKEN)
    job(event="schedule")

    assert "opened #" in bot("open").stderr
    (made,) = gitea.pulls.values()
    assert made["title"].startswith("WIP: fix(device)") and made["head"]["ref"] == "devfix/device"
    assert [label["name"] for label in made["labels"]] == ["devfix"]
    assert ".to(device)).sum()" in repository.there("devfix/device", "train.py")
    gitea.calls.clear()
    assert "is up to date" in bot("open").stderr
    assert gitea.writes() == []

    repository.commit(train__py=CLEAN)
    assert "nothing to fix: closed #" in bot("open").stderr
    assert made["state"] == "closed" and repository.branches() == ["main"]


def test_a_person_stops_it(bot, job, gitea, pull):
    gitea.say(pull, "stop")
    job(pull)

    assert "ann stopped devfix" in bot("review").stderr
    assert gitea.writes() == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(Answer(403, {"message": "no write"}), "403 no write (does the token have", id="refused"),
        pytest.param(Answer(200, "<html>"), "unexpected response", id="another-server"),
        pytest.param(Answer(302, None, Location="http://eve.example/"), "302", id="redirect"),
    ],
)
def test_a_refusal_is_one_line(bot, job, gitea, pull, answer, words):
    gitea.troubles.append(("GET", answer))
    job(pull)

    result = bot("review")

    assert (result.code, result.stderr.count("\n")) == (2, 1) and words in result.stderr


def test_a_dry_run_writes_nothing(bot, job, gitea, pull):
    job(pull)

    result = bot("review", "--dry-run")

    assert (result.code, gitea.writes()) == (0, [])
    assert f"/pulls/{pull}/reviews (not sent)" in result.stderr


def test_a_pull_request_of_a_migration_is_reviewed_and_merged(forge, gitea, pull):
    forge.request_reviews(pull, ["ann", "lab/owners"])
    assert gitea.requested[pull] == ["ann", "owners"]

    assert (forge.checks(forge.pull(pull)), forge.decision(pull)) == ("", "")
    gitea.state = "success"
    gitea.reviews[pull] = [
        {"id": 1, "state": "REQUEST_CHANGES", "user": {"login": "ann"}},
        {"id": 2, "state": "APPROVED", "user": {"login": "ann"}},
        {"id": 3, "state": "REQUEST_CHANGES", "user": {"login": "ben"}, "dismissed": True},
    ]
    assert (forge.checks(forge.pull(pull)), forge.decision(pull)) == ("passed", "approved")

    found = forge.pull(pull)
    with pytest.raises(BotError, match="409"):
        forge.merge_pull(dataclasses.replace(found, head="0" * 40), "squash")
    forge.merge_pull(found, "squash")
    assert gitea.merged_with[pull] == "squash"
    assert forge.pull(pull).state == "merged"


@pytest.mark.parametrize(
    ("state", "checks"),
    [("success", "passed"), ("skipped", "passed"), ("pending", "running"), ("failure", "failed"), ("error", "failed")],
)
def test_states_of_commits_are_told_as_checks(forge, gitea, pull, state, checks):
    gitea.state = state

    assert forge.checks(forge.pull(pull)) == checks
