"""``fork`` of a plan: pull requests from a fork, where the token may not push to the repository."""

from __future__ import annotations

import json

import pytest
from bot.conftest import run_git
from bot.serving import Answer

from devfix.bot.forks import fork as forks

pytestmark = pytest.mark.sample(7)  # each takes seconds

FORK = "me/nets"
BRANCH = "devfix/device-main"


@pytest.fixture
def github(github, monkeypatch):
    """A host on which the token's account may not push to the repository."""
    github.login, github.may_push = "me", False
    monkeypatch.setattr(forks.time, "sleep", lambda _: None)
    return github


def branches(github, name=FORK):
    return github.git("for-each-ref", "--format=%(refname:short)", "refs/heads", repository=name).decode().split()


def in_fork(github, path, branch=BRANCH):
    return github.git("show", f"{branch}:{path}", repository=FORK).decode()


def creations(github):
    return [path for method, path in github.writes() if (method, path) == ("POST", "/repos/lab/nets/forks")]


def test_a_fork_is_created_and_the_pull_request_opened_from_it(plan, migrate, github, repository):
    migrate(plan("main", fork="auto"))

    ((number, pull),) = github.pulls.items()
    assert (pull["head"]["label"], pull["base"]["ref"]) == (f"me:{BRANCH}", "main")
    assert pull["head"]["repo"]["full_name"] == FORK
    assert "device" in in_fork(github, "train.py") and repository.branches() == ["main"]
    assert f"/pull/{number}" in migrate("status", "--changes")


def test_an_existing_fork_is_used(plan, migrate, github):
    github.add_fork(FORK)

    migrate(plan("main", fork="auto"))

    assert len(github.pulls) == 1 and creations(github) == []


def test_a_repository_of_the_same_name_is_not_taken_for_a_fork(plan, migrate, github):
    github.add_fork(FORK)
    github.unrelated.add(FORK)

    migrate(plan("main", fork="auto"))

    assert [pull["head"]["repo"]["full_name"] for pull in github.pulls.values()] == ["me/nets-1"]
    assert branches(github) == ["main"]


def test_a_fork_that_lacks_the_commit_gets_it_from_the_repository(plan, migrate, github, repository, tmp_path):
    path = plan("main", fork="auto")
    github.add_fork(FORK)
    repository.commit(new__py="x = 1\n")
    repository.commit(other__py="x = 2\n")

    migrate(path)

    assert in_fork(github, "other.py") == "x = 2\n"
    run_git("fsck", "--connectivity-only", cwd=github.forks[FORK])
    assert not (github.forks[FORK] / "shallow").exists()


def test_a_fork_is_used_when_github_has_filled_it(plan, migrate, github):
    github.questions_until_filled = 4

    migrate(plan("main", fork="auto"))

    assert [pull["state"] for pull in github.pulls.values()] == ["open"]


def test_a_fork_that_is_never_filled_leaves_the_pull_request_waiting(plan, migrate, github, monkeypatch):
    monkeypatch.setattr(forks, "LONGEST_CREATION_S", 1.5)
    github.questions_until_filled = 1000

    told = migrate(plan("main", fork="auto"), code=1)

    assert "1 pull requests waiting" in told and github.pulls == {}
    github.questions_until_filled = 0
    assert "opened" in migrate("open") and len(github.pulls) == 1


def test_a_repository_to_which_the_token_may_push_is_not_forked(plan, migrate, github, repository):
    github.may_push = True

    migrate(plan("main", fork="auto"))

    assert repository.branches() == [BRANCH, "main"] and github.forks == {}


def test_always_forks_also_where_the_token_may_push(plan, migrate, github, repository):
    github.may_push = True

    migrate(plan("main", fork="always"))

    assert repository.branches() == ["main"] and branches(github) == [BRANCH, "main"]


def test_without_the_key_nothing_is_forked(plan, migrate, github, repository):
    migrate(plan("main"))

    assert repository.branches() == [BRANCH, "main"] and github.forks == {}


def test_the_fork_may_belong_to_an_organization(plan, migrate, github):
    migrate(plan("main", fork="auto", fork_owner="bots"))

    (pull,) = github.pulls.values()
    assert pull["head"]["label"] == f"bots:{BRANCH}"
    assert github.bodies("POST", "/repos/lab/nets/forks") == [{"organization": "bots"}]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("archived", "refusal", "owner", "words"),
    [
        pytest.param(
            False, "Forking is disabled", "", "does not fork lab/nets to me: Forking is disabled", id="disabled"
        ),
        pytest.param(True, None, "", "lab/nets is archived", id="archived"),
        pytest.param(False, None, "lab", "lab owns lab/nets", id="same-account"),
    ],
)
def test_a_repository_that_cannot_be_forked_is_one_refused_pull_request(
    plan, migrate, github, repository, archived, refusal, owner, words
):
    github.archived, github.refuse_fork = archived, refusal
    for branch in ("a", "b", "c", "d"):
        repository.git("push", "-q", "origin", f"main:{branch}")

    told = migrate(plan("main", "a", "b", "c", "d", fork="auto", fork_owner=owner), code=1)

    assert "5 pull requests refused" in told and github.pulls == {}  # three errors in sequence would stop the others
    assert words in migrate("status", "--changes")


def test_no_connection_to_create_a_fork_leaves_it_waiting(plan, migrate, github):
    github.troubles = [("POST", Answer(500, {"message": "down"}))] * 10

    assert "1 pull requests waiting" in migrate(plan("main", fork="auto"), code=1)
    assert "a fork of lab/nets: 500 down" in migrate("status")


def test_a_rate_limit_is_no_refusal(plan, migrate, github):
    github.troubles = [("POST", Answer(403, {"message": "secondary rate limit"}, Retry_After=3600))]

    assert "1 pull requests waiting" in migrate(plan("main", fork="auto"), code=1)
    assert "rate limit exceeded: run again in 60 min" in migrate("status")


def test_work_of_others_in_the_fork_is_not_overwritten(plan, migrate, github, repository):
    path = plan("main", fork="auto")
    repository.git("push", "-q", "origin", f"main:{BRANCH}")
    github.add_fork(FORK)

    told = migrate(path, code=1)

    assert "1 pull requests refused" in told
    assert "has a commit by" in migrate("status", "--changes")
    assert github.commit(BRANCH, FORK) == github.commit("main")


def test_a_new_commit_updates_the_pull_request_of_the_fork(plan, migrate, github, repository):
    migrate(plan("main", fork="auto"))
    repository.commit(other__py="x = 1\n")

    migrate(plan("main", fork="auto"))

    assert len(github.pulls) == 1 and len(creations(github)) == 1
    assert in_fork(github, "other.py") == "x = 1\n"


def test_what_was_closed_in_a_fork_is_not_opened_again(plan, migrate, github):
    migrate(plan("main", fork="auto"))
    next(iter(github.pulls.values()))["state"] = "closed"

    assert "1 pull requests refused" in migrate(plan("main", fork="auto"), "--no-resume", code=1)
    assert len(github.pulls) == 1


def test_labels_and_reviewers_that_github_refuses_are_reported(plan, migrate, github):
    told = migrate(plan("main", fork="auto", labels=["bug"], reviewers=["ann"]))

    assert "1 pull requests open" in told
    assert "You do not have permission to add labels" in migrate("status", "--changes")


def test_the_author_is_not_asked_for_a_review(plan, migrate, github):
    github.may_push = True

    migrate(plan("main", reviewers=["me", "ann"]))

    (pull,) = github.pulls.values()
    assert pull["reviewers"] == ["ann"]


def test_a_pull_request_of_a_fork_is_merged(plan, migrate, github):
    migrate(plan("main", fork="auto", draft=False))

    assert "merged" in migrate("merge")

    (pull,) = github.pulls.values()
    assert pull["merged_at"]


def test_closing_deletes_the_branch_and_keeps_the_fork(plan, migrate, github):
    migrate(plan("main", fork="auto"))

    migrate("close")

    assert [pull["state"] for pull in github.pulls.values()] == ["closed"]
    assert branches(github) == ["main"]
    assert [path for method, path in github.writes() if method == "DELETE"] == [
        f"/repos/{FORK}/git/refs/heads/{BRANCH}"
    ]


def test_closing_keeps_the_work_of_others_in_the_fork(plan, migrate, github, repository):
    migrate(plan("main", fork="auto"))
    theirs = github.commit("main")
    github.git("update-ref", f"refs/heads/{BRANCH}", theirs, repository=FORK)

    migrate("close")

    assert branches(github) == [BRANCH, "main"]


def test_the_state_names_the_fork(plan, migrate, github, tmp_path):
    migrate(plan("main", fork="auto"))

    (record,) = map(json.loads, (tmp_path / "out" / "records.jsonl").read_text().splitlines())
    assert record["published"]["commit"] == github.commit(BRANCH, FORK)
    assert f'"repository":"{FORK}"' in (tmp_path / "out" / "state.log").read_text()
