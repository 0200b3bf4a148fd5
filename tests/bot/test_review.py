"""``devfix bot review``: suggestions, edited instead of posted again; commits; and nothing where nobody asks."""

from __future__ import annotations

import subprocess
import sys

import pytest
from bot.conftest import BROKEN, CLEAN, CONFIGURATION
from bot.github_server import BOT
from bot.serving import TOKEN, Answer

pytestmark = pytest.mark.sample(24)  # each takes seconds

FIXED = "    loss = model(torch.randn(8, 4).to(device)).sum()"


def test_one_review_with_a_suggestion(bot, job, github, pull):
    job(pull)

    result = bot("review")

    assert result.code == 0, result.stderr
    (review,) = github.bodies("POST", "/reviews")
    assert review["event"] == "COMMENT"
    (comment,) = review["comments"]
    assert (comment["path"], comment["line"], comment["side"]) == ("train.py", 7, "RIGHT")
    assert f"```suggestion\n{FIXED}\n```" in comment["body"]
    assert "DEV102" in review["body"] and "Nothing was run" in review["body"]


def test_a_second_run_says_nothing_new(bot, job, github, pull):
    job(pull)
    bot("review")
    github.calls.clear()

    assert bot("review").code == 0
    assert github.writes() == []


def test_a_second_run_says_nothing_new_of_files_with_crlf(bot, job, github, pull, repository):
    repository.commit(train__py=BROKEN.replace("\n", "\r\n"))
    github.pulls[pull]["head"]["sha"] = github.commit("topic")
    job(pull)
    bot("review")
    assert "+    loss = model(torch.randn(8, 4).to(device))" in github.reviews[pull][0]["body"]
    github.calls.clear()

    assert bot("review").code == 0
    assert github.writes() == []


def test_what_has_changed_is_edited_and_what_is_new_is_one_review_more(bot, job, github, pull, repository):
    job(pull)
    bot("review")
    more = BROKEN + "for step in range(2):\n    loss = model(torch.ones(2, 4)).sum()\n"
    repository.commit(train__py=more)
    github.pulls[pull]["head"]["sha"] = repository.git("rev-parse", "HEAD")
    github.calls.clear()
    job(pull)

    assert bot("review").code == 0
    assert [method for method, _ in github.writes()] == ["PUT", "POST"]
    (second,) = github.bodies("POST", "/reviews")
    assert len(second["comments"]) == 1 and second["comments"][0]["line"] == 10


def test_a_suggestion_that_is_not_needed_any_more_says_so(bot, job, github, pull, repository):
    job(pull)
    bot("review")
    repository.commit(train__py=CLEAN.replace("range(4)", "range(5)"))
    github.pulls[pull]["head"]["sha"] = repository.git("rev-parse", "HEAD")
    job(pull)

    assert bot("review").code == 0
    assert github.inline[pull][0]["body"].startswith("*This suggestion is obsolete.*")


def test_what_is_outside_of_the_diff_is_not_suggested_but_told(bot, job, github, repository):
    head, middle = BROKEN.split("for step")[0], "x = 1\n" * 20
    text = head.replace(".to(device)", "") + "{}" + middle + "for step" + BROKEN.split("for step")[1]
    repository.commit(pyproject__toml=CONFIGURATION, train__py=text.format(""))
    repository.branch("topic")
    repository.commit(train__py=text.format("model.to(device)\n"))
    number = github.add_pull("topic")
    job(number)

    assert bot("review").code == 0
    (review,) = github.bodies("POST", "/reviews")
    assert review["comments"] == []
    assert (
        "1 edit only with the patch, because" in review["body"]
        and "+    loss = model(torch.randn(8, 4).to(device))" in review["body"]
    )


def test_a_pull_request_without_bugs_gets_no_word(bot, job, github, repository):
    repository.commit(pyproject__toml=CONFIGURATION, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=CLEAN + "\n")
    job(github.add_pull("topic"))

    assert bot("review").code == 0
    assert github.writes() == []


def test_other_people_s_markers_are_not_edited(bot, job, github, pull):
    github.reviews[pull] = [{"id": 7, "body": "<!-- devfix:review -->", "user": {"login": "eve", "type": "User"}}]
    job(pull)

    assert bot("review").code == 0
    assert [method for method, _ in github.writes()] == ["POST"]


def test_plugins_of_the_pull_request_are_not_run_and_named(bot, job, github, pull, repository):
    text = CONFIGURATION + '[tool.devfix]\nplugins = ["rules"]\n'
    repository.commit(pyproject__toml=text, rules__py="open('imported', 'w')\n", train__py=BROKEN)
    github.pulls[pull]["head"]["sha"] = github.commit("topic")
    job(pull)

    result = bot("review")

    assert result.code == 0 and len(github.reviews[pull]) == 1
    assert not (repository.tree / "imported").exists()
    assert result.stderr.startswith(f"devfix: the plugin 'rules' in {repository.tree} was not loaded; ")


# --- trouble ------------------------------------------------------------------------------------------------------
def test_a_server_that_fails_once_is_asked_again_and_nothing_is_said_of_it(job, github, pull):
    job(pull)
    github.troubles.append(("GET", Answer(502, {"message": "bad gateway"})))

    done = subprocess.run(
        [sys.executable, "-m", "devfix", "bot", "review"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr


@pytest.mark.parametrize("document", ["<html>", [1], {"number": 1}, {"head": "x"}])
def test_an_answer_of_something_else_is_one_line(bot, job, github, pull, document):
    job(pull)
    github.troubles.append(("GET", Answer(200, document)))

    result = bot("review")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "unexpected response" in result.stderr


def test_no_connection_is_one_line(bot, job, pull, monkeypatch):
    job(pull)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")

    assert "pull request #101: no connection: " in bot("review").stderr


@pytest.mark.parametrize("payload", [{"pull_request": [1]}, {"pull_request": {"number": "x"}}])
def test_an_event_that_is_none(bot, job, payload):
    job(payload=payload, token="")

    assert "is not a GitHub event" in bot("review").stderr


def test_a_path_that_is_not_there_is_told(bot, job, github, repository):
    repository.commit(pyproject__toml=CONFIGURATION + 'paths = ["nowhere"]\n', train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    job(github.add_pull("topic"))

    assert "nowhere:1: " in bot("review").stderr


# --- a commit -------------------------------------------------------------------------------------------------------
@pytest.fixture
def committing(repository, github):
    repository.commit(pyproject__toml=CONFIGURATION + 'mode = "commit"\n', train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    return github.add_pull("topic")


def test_a_commit_is_pushed_and_told(bot, job, github, committing, repository):
    job(committing)

    result = bot("review")

    assert result.code == 0, result.stderr
    assert FIXED in repository.there("topic", "train.py")
    (review,) = github.bodies("POST", "/reviews")
    assert "This branch now contains the fix" in review["body"]
    assert TOKEN not in repository.git("config", "--list")


def test_the_bot_does_not_answer_itself(bot, job, github, committing, repository):
    job(committing)
    bot("review")
    repository.git("pull", "-q", "origin", "topic")
    repository.commit(message="again\n\nMade-by: devfix bot", train__py=BROKEN)
    github.pulls[committing]["head"]["sha"] = repository.git("rev-parse", "HEAD")
    job(committing)

    assert "is the bot's" in bot("review").stderr
    assert repository.there("topic", "train.py") == BROKEN.rstrip()


def test_a_fork_is_not_pushed_to(bot, job, github, committing, repository):
    github.pulls[committing]["head"]["repo"] = {"full_name": "lab/nets"}
    job(committing)
    github.pulls[committing]["head"]["repo"] = {"full_name": "eve/nets"}

    result = bot("review")

    assert (result.code, "comes from eve/nets" in result.stderr) == (2, True)
    assert repository.there("topic", "train.py") == BROKEN.rstrip()


# --- told to keep out -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("configuration", ["", "[tool.devfix.bot]\n", "[tool.devfix.bot]\nenabled = false\n"])
def test_nothing_where_nobody_asks(bot, job, github, repository, configuration):
    repository.commit(pyproject__toml=configuration, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    job(github.add_pull("topic"))

    result = bot("review")

    assert (result.code, github.calls) == (0, [])
    assert "skipped: " in result.stderr


def test_the_configuration_is_that_of_the_base(bot, job, github, repository):
    repository.commit(pyproject__toml="", train__py=CLEAN)
    repository.branch("topic")
    repository.commit(pyproject__toml=CONFIGURATION, train__py=BROKEN)
    job(github.add_pull("topic"))

    assert bot("review").code == 0
    assert github.writes() == []


@pytest.mark.parametrize("body", ["stop", "Stop!", "devfix stop", "  /devfix stop\n"])
def test_a_comment_that_says_stop(bot, job, github, pull, body):
    for word in ("nice", "well", body):
        github.say(pull, word)
    job(pull)

    assert f"ann stopped devfix in #{pull}" in bot("review").stderr
    assert github.writes() == []


def test_a_comment_that_does_not_say_stop(bot, job, github, pull):
    github.say(pull, "do not stop here")
    github.say(pull, "stop <!-- devfix:review -->", BOT)
    job(pull)

    assert bot("review").code == 0
    assert len(github.writes()) == 1


def test_a_review_of_another_app_is_not_edited(bot, job, github, pull):
    job(pull)
    bot("review")
    (first,) = github.reviews[pull]
    first["body"] += " of another installation"
    github.app = "other-app[bot]"

    assert bot("review").code == 0

    assert github.reviews[pull][0] == {**first, "user": BOT}
    assert len(github.bodies("POST", "/reviews")) == 2, "this app posts its own"


@pytest.mark.parametrize("app", ["github-actions[bot]", "github-actions"])
def test_a_dry_run_knows_the_review_of_its_app(bot, job, github, pull, app):
    job(pull)
    bot("review")
    github.app = app
    before = github.writes()

    result = bot("review", "--dry-run")

    assert result.code == 0
    assert "0 new of 1 suggestions" in result.stderr
    assert github.writes() == before


def test_an_app_that_may_not_ask_who_it_is_edits_nothing(bot, job, github, pull):
    github.say(pull, "<!-- devfix:review -->", BOT)
    github.troubles.append(("POST", Answer(403, {"message": "Resource not accessible by integration"})))
    job(pull)

    result = bot("review")

    assert result.code == 2
    assert "GitHub: the app of the token: 403 Resource not accessible by integration" in result.stderr
    assert github.writes() == []


def test_the_label(bot, job, github, pull):
    github.pulls[pull]["labels"] = ["devfix: ignore"]
    job(pull)

    assert bot("review").code == 0
    assert github.writes() == []


# --- what the host says ---------------------------------------------------------------------------------------------
def test_a_secondary_limit_is_waited_for(bot, job, github, pull):
    github.troubles.append(("POST", Answer(403, {"message": "secondary rate limit"}, Retry_After=1)))
    job(pull)

    assert bot("review").code == 0
    assert len(github.bodies("POST", "/reviews")) == 2
    assert len(github.reviews[pull]) == 1


def test_a_review_whose_answer_was_lost_is_there_once(bot, job, github, pull):
    github.lost.append(("POST", Answer(502, {"message": "bad gateway"})))
    job(pull)

    assert bot("review").code == 0

    assert len(github.bodies("POST", "/reviews")) == 2, "the client repeats a request that failed"
    first, second = github.reviews[pull]
    assert "<!-- devfix:review -->" in first["body"] and "devfix:review" not in second["body"]
    assert len(github.inline[pull]) == 1


def test_a_review_of_another_run_at_the_same_time_is_the_only_one(bot, job, github, pull):
    job(pull)
    bot("review")
    github.pulls[pull]["head"]["sha"] = github.commit("topic")
    (theirs,), (comment,) = github.reviews[pull], github.inline[pull]
    listed, github.reviews[pull], github.inline[pull] = github.reviews[pull], [], []
    answer = github.create_review

    def both(number, query, body):
        github.reviews[int(number)], github.inline[int(number)] = [theirs], [comment]
        return answer(number, query=query, body=body)

    both.answers = answer.answers
    github.create_review = both
    job(pull)

    assert bot("review").code == 0
    assert github.reviews[pull][0] is theirs and listed
    assert "devfix:review" not in github.reviews[pull][1]["body"]
    assert github.inline[pull] == [comment]


def test_a_limit_that_lasts_ends_the_job(bot, job, github, pull):
    github.troubles.append(("POST", Answer(403, {"message": "secondary rate limit"}, Retry_After=3600)))
    job(pull)

    result = bot("review")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "run again in 60 min" in result.stderr


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(
            Answer(422, {"message": "Validation Failed", "errors": ["no"]}), "422 Validation Failed (no)", id="422"
        ),
        pytest.param(Answer(409, {"message": "Conflict"}), "409 Conflict", id="409"),
        pytest.param(Answer(403, {"message": "Forbidden"}), "does the token have the permissions", id="403"),
        pytest.param(Answer(401, {"message": "Bad credentials"}), "is the token valid", id="401"),
    ],
)
def test_a_refusal_is_one_line(bot, job, github, pull, answer, words):
    github.troubles.append(("POST", answer))
    job(pull)

    result = bot("review")

    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert words in result.stderr


def test_a_dry_run_tells_every_call_and_writes_nothing(bot, job, github, pull):
    job(pull)

    result = bot("review", "--dry-run")

    assert result.code == 0
    assert github.writes() == [] and len(github.calls) > 3
    for method, path, _ in github.calls:
        assert f"{method} {github.url}{path}" in result.stderr
    assert f"POST {github.url}/repos/lab/nets/pulls/{pull}/reviews (not sent)" in result.stderr
    assert "suggestion" in result.stderr


def test_no_token_is_one_line(bot, job, pull):
    job(pull, token="")

    result = bot("review")

    assert (result.code, result.stderr) == (
        2,
        "devfix: no token: set DEVFIX_TOKEN or GITHUB_TOKEN for this step, or use --dry-run\n",
    )


def test_another_commit_than_the_pull_request_s_is_not_reviewed(bot, job, github, pull, repository):
    job(pull)
    repository.git("commit", "-q", "--allow-empty", "-m", "merge")

    result = bot("review")

    assert result.code == 2 and "check out its head" in result.stderr


def test_annotations_only(bot, job, github, repository):
    repository.commit(pyproject__toml=CONFIGURATION + 'mode = "annotations"\n', train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    job(github.add_pull("topic"))

    result = bot("review")

    assert result.stdout.startswith("::warning title=devfix (DEV102),file=train.py,line=7::")
    assert github.writes() == []


@pytest.mark.parametrize("name", ["jsonschema", "githubkit"])
def test_a_missing_package_is_one_line(bot, job, pull, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "devfix.bot.github", raising=False)
    job(pull)

    result = bot("review")

    assert (result.code, result.stderr) == (2, f"devfix: the bot needs {name}: pip install 'devfix[bot]'\n")
