"""``split = "owners"`` and ``reviewers = "owners"`` of a plan: one pull request for each set of owners."""

from __future__ import annotations

import json

import pytest
from bot.conftest import BROKEN, CLEAN

pytestmark = pytest.mark.sample(4)  # each takes seconds

OWNERS = "* @lab/core\n/one/ @ann\n/two/ @bob lee@lab.org\n/free/\n"


@pytest.fixture
def owned(repository):
    """A repository with a bug for each of two sets of owners, `train.py` and one more file; commits others."""

    def commit(**files):
        repository.commit(**{"CODEOWNERS": OWNERS, **files})

    commit(**{"one/a__py": BROKEN})
    return commit


def heads(github, state="open"):
    return sorted(pull["head"]["ref"] for pull in github.pulls.values() if pull["state"] == state)


def pull_of(github, owners):
    return next(pull for pull in github.pulls.values() if pull["head"]["ref"] == f"devfix/device-main-{owners}")


def test_each_set_of_owners_gets_a_pull_request(owned, plan, migrate, github, repository):
    owned(**{"two/a__py": BROKEN, "free/a__py": BROKEN})
    told = migrate(plan("main", split="owners", reviewers="owners"))

    assert "4 pull requests open" in told
    assert heads(github) == [f"devfix/device-main-{end}" for end in ("ann", "bob-lee-lab-org", "lab-core", "unowned")]
    assert [pull_of(github, end).get("reviewers") for end in ("ann", "bob-lee-lab-org", "lab-core", "unowned")] == [
        *(["ann"], ["bob"], ["core"], None)
    ]
    body = pull_of(github, "ann")["body"]
    assert "Owners of these files: `@ann`." in body and "one of 4 changes" in body
    assert "`one/a.py:7`" in body and "two/a.py" not in body and "This fixes 1 device bug in 1 file" in body
    assert "These files have no owner in CODEOWNERS." in pull_of(github, "unowned")["body"]
    assert "device" in repository.there("devfix/device-main-ann", "one/a.py")
    assert repository.there("devfix/device-main-ann", "two/a.py") == BROKEN.strip()


@pytest.mark.sample(1)
def test_the_record_has_the_address_of_each_pull_request(owned, plan, migrate, github, tmp_path):
    path = plan("main", split="owners")
    migrate(path)

    (record,) = map(json.loads, (tmp_path / "out" / "records.jsonl").read_text().splitlines())
    assert [part["owners"] for part in record["parts"]] == [["@ann"], ["@lab/core"]]
    assert {part["published"]["url"].rpartition("/")[2] for part in record["parts"]} == set(map(str, github.pulls))

    github.calls.clear()
    migrate(path)
    assert github.calls == []


@pytest.mark.sample(1)
def test_each_pull_request_counts_in_the_limits(owned, plan, migrate, github):
    told = migrate(plan("main", split="owners", max_hourly=1))

    assert "1 pull requests open, 1 pull requests waiting" in told and "max-hourly is 1" in told
    assert migrate("open", "--dry-run").count("would open") == 1
    assert "max-open is 1" in migrate("open", "--max-hourly", "50", "--max-open", "1", code=1)
    migrate("open", "--max-hourly", "50")
    assert len(heads(github)) == 2 and "pull requests: 2 open" in migrate("status")


@pytest.mark.sample(1)
def test_a_new_commit_updates_each_pull_request(owned, plan, migrate, github, repository):
    path = plan("main", split="owners")
    migrate(path)
    owned(**{"one/b__py": BROKEN})

    migrate(path)

    assert len(github.pulls) == 2
    assert "2 device bugs in 2 files" in pull_of(github, "ann")["body"]


@pytest.mark.sample(1)
def test_what_one_owner_merged_leaves_the_others_open(owned, plan, migrate, github):
    path = plan("main", split="owners", draft=False)
    migrate(path)
    pull_of(github, "ann").update(state="closed", merged_at="2026-01-03T03:04:05Z")
    assert migrate("status", "--changes").count("open, checks passed") == 1
    owned(**{"one/a__py": CLEAN})

    migrate(path)

    assert len(github.pulls) == 2 and len(heads(github)) == 1
    migrate("merge")
    assert "pull requests: 2 merged" in migrate("status")


@pytest.mark.sample(1)
def test_a_pull_request_whose_files_need_no_fix_any_more_can_still_be_closed(owned, plan, migrate, github):
    path = plan("main", split="owners")
    migrate(path)
    owned(**{"one/a__py": CLEAN})
    migrate(path)

    migrate("close")

    assert heads(github) == [] and len(heads(github, "closed")) == 2


def test_an_open_pull_request_of_a_repository_that_became_clean_can_still_be_closed(plan, migrate, github, repository):
    path = plan("main")
    migrate(path)
    repository.commit(train__py=CLEAN)
    migrate(path)

    migrate("close")

    assert heads(github, "closed") == ["devfix/device-main"] and repository.branches() == ["main"]


@pytest.mark.sample(1)
def test_one_pull_request_that_is_refused_does_not_stop_the_others(owned, plan, migrate, github, repository):
    path = plan("main", split="owners")
    repository.git("push", "-q", "origin", "main:devfix/device-main-ann")

    told = migrate(path, code=1)

    assert "1 pull requests open, 1 pull requests refused" in told
    assert "has a commit by" in migrate("status", "--changes")


def test_owners_are_asked_for_a_review_of_one_pull_request(owned, plan, migrate, github):
    migrate(plan("main", reviewers="owners"))

    (pull,) = github.pulls.values()
    assert (pull["head"]["ref"], pull["reviewers"]) == ("devfix/device-main", ["ann", "core"])
    assert "Owners of these files" not in pull["body"]


@pytest.mark.sample(1)
def test_parts_come_from_one_fork(owned, plan, migrate, github):
    github.login, github.may_push = "me", False

    migrate(plan("main", split="owners", fork="auto"))

    assert {pull["head"]["repo"]["full_name"] for pull in github.pulls.values()} == {"me/nets"}
    assert len(github.pulls) == 2
    assert github.writes().count(("POST", "/repos/lab/nets/forks")) == 1


@pytest.mark.sample(1)
def test_the_text_of_a_pull_request_comes_from_the_complete_record(owned, plan, migrate, github, tmp_path):
    pytest.importorskip("fsspec")

    migrate(plan("main", split="owners"), "--results", str(tmp_path / "shared"))

    assert "`one/a.py:7`" in pull_of(github, "ann")["body"]
    assert len(heads(github)) == 2
