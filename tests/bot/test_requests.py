"""Each request that a client sends holds to the description of its forge."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from bot.conftest import BROKEN, CLEAN
from bot.gitea_server import Gitea
from bot.github_server import REPOSITORY, GitHub
from bot.gitlab_server import GitLab
from bot.serving import TOKEN

from devfix.bot.forge import Forge
from devfix.bot.gitea import GiteaForge
from devfix.bot.github import GitHubForge
from devfix.bot.gitlab import GitLabForge
from devfix.bot.suggestions import Suggestion

SUGGESTION = Suggestion("train.py", 7, 7, ("    pass",), (BROKEN.split("\n")[6],), is_visible=True)
LARGE = b"x = 1\n" * 200_000
MARKER = "<!-- devfix:review -->"


@pytest.fixture
def pushed(repository):
    repository.commit(train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN, large__py=LARGE)
    repository.branch("devfix/device")
    repository.commit(train__py=CLEAN)
    return repository


def github(pushed):
    api = GitHub(pushed.bare)
    return api, GitHubForge(api.url, REPOSITORY, TOKEN, False, print), api.add_pull("topic")


def gitlab(pushed):
    api = GitLab(pushed.bare)
    return api, GitLabForge(api.url, REPOSITORY, TOKEN, False, print), api.add_request("topic")


def gitea(pushed):
    api = Gitea(pushed.bare)
    return api, GiteaForge(f"{api.url}/api/v1", REPOSITORY, TOKEN, False, print), api.add_pull("topic")


class Calls:
    """Passes calls on to a client, and keeps the names of its methods."""

    def __init__(self, forge):
        self._forge, self.names = forge, set()

    def __getattr__(self, name):
        self.names.add(name)
        return getattr(self._forge, name)


@pytest.mark.sample(1)
@pytest.mark.parametrize("connect", [github, gitlab, gitea])
def test_each_method_of_a_client_sends_what_its_forge_describes(connect, pushed):
    api, client, number = connect(pushed)
    forge = Calls(client)

    pull = forge.pull(number)
    assert forge.default_branch() == "main"
    assert [found.number for found in forge.open_pulls()] == [number]
    assert [found.number for found in forge.pulls_from_branch("topic")] == [number]
    assert [found.number for found in forge.pulls_since(datetime(2026, 1, 1, tzinfo=timezone.utc))] == [number]
    assert forge.read_file("large.py", pull.head) == LARGE
    assert forge.read_file("none.py", pull.head) is None
    assert 7 in forge.visible_lines(number)["train.py"]
    assert forge.clone_url(REPOSITORY).endswith("nets.git")
    api.login = "devfix-bot"
    assert (forge.account(), forge.can_push()) == ("devfix-bot", True)
    assert forge.fork("").repository == "devfix-bot/nets"

    forge.post_review(pull, f"text {MARKER}", [SUGGESTION])
    (inline,), (review,) = forge.inline_comments(number), forge.reviews(number)
    assert inline.body == forge.format_suggestion(SUGGESTION)
    forge.edit_inline_comment(number, inline, f"changed {MARKER}")
    forge.edit_review(number, review, f"other {MARKER}")
    assert [found.body for found in forge.inline_comments(number)] == [f"changed {MARKER}"]
    assert [found.body for found in forge.reviews(number)] == [f"other {MARKER}"]
    forge.remove_inline_comment(number, inline)
    forge.remove_review(number, review)
    assert forge.inline_comments(number) == []
    assert f"other {MARKER}" not in [found.body for found in forge.comments(number)]

    opened = forge.open_pull("devfix/device", "main", "title", "body", False)
    forge.edit_pull(opened, "new title", "new body")
    forge.add_labels(opened, ["devfix"])
    forge.request_reviews(opened, ["ann"])
    found = forge.pull(opened)
    assert (found.title, found.body, found.labels) == ("new title", "new body", ("devfix",))
    assert (forge.checks(found), forge.decision(opened)) in (("", ""), ("passed", ""))
    forge.close_pull(opened, "not now")
    forge.delete_branch("devfix/device")
    forge.merge_pull(pull, "squash")
    assert [forge.pull(each).state for each in (opened, number)] == ["closed", "merged"]

    forge.disconnect()
    api.stop()
    assert forge.names == {name for name in vars(Forge) if not name.startswith("_")}
