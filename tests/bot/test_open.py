"""``devfix bot open``: one pull request for each group, kept up to date, and closed when it is not needed."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from bot.conftest import BROKEN, CLEAN, CONFIGURATION, run_git
from bot.serving import TOKEN, Answer

pytestmark = pytest.mark.sample(12)  # each takes seconds

GROUPED = CONFIGURATION + 'max-hourly = 9\n[tool.devfix.bot.groups]\ncheckpoints = ["DEV3"]\n'
LOADED = BROKEN.replace("for step", 'state = torch.load("model.pt")\nmodel.load_state_dict(state)\nfor step', 1)


@pytest.fixture
def main(repository, job, github):
    """A default branch with a bug, checked out by a scheduled job."""
    repository.commit(pyproject__toml=CONFIGURATION, train__py=BROKEN)
    job(event="schedule")
    return repository


def only(github):
    (pull,) = github.pulls.values()
    return pull


def test_a_pull_request_is_opened(bot, github, main):
    result = bot("open")

    assert result.code == 0, result.stderr
    pull = only(github)
    assert (pull["head"]["ref"], pull["base"]["ref"], pull["draft"]) == ("devfix/device", "main", True)
    assert pull["title"] == "fix(device): tensor-without-device"
    assert pull["labels"] == ["devfix"]
    for part in ("| DEV102 |", "### Evidence", "### Reproduce", "### Disable", "<!-- devfix:group=device patch="):
        assert part in pull["body"]
    assert ".to(device)).sum()" in main.there("devfix/device", "train.py")
    assert TOKEN not in main.git("config", "--list")


def test_a_second_run_changes_nothing(bot, github, main):
    bot("open")
    before = main.git("ls-remote", "origin")
    github.calls.clear()

    assert "is up to date" in bot("open").stderr
    assert (github.writes(), main.git("ls-remote", "origin")) == ([], before)


def test_two_jobs(bot, job, github, main, monkeypatch, tmp_path):
    job(event="schedule", token="")
    made = bot("open", "--artifact", tmp_path / "patches")
    assert (made.code, github.calls) == (0, []), made.stderr
    job(event="schedule")
    monkeypatch.chdir(tmp_path)  # no checkout is needed

    result = bot("propose", tmp_path / "patches", "--digest", made.stdout.strip())

    assert result.code == 0, result.stderr
    assert only(github)["head"]["ref"] == "devfix/device"
    assert ".to(device)).sum()" in main.there("devfix/device", "train.py")


def test_patches_that_were_changed_between_two_jobs_are_refused(bot, job, github, main, tmp_path):
    made = bot("open", "--artifact", tmp_path / "patches")
    manifest = tmp_path / "patches" / "device" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("DEV102", "DEV103"))
    job(event="schedule")

    result = bot("propose", tmp_path / "patches", "--digest", made.stdout.strip())

    assert (result.code, github.writes()) == (2, [])
    assert "its digest is another one" in result.stderr


def test_it_is_updated_in_place(bot, github, main):
    bot("open")
    main.commit(train__py=BROKEN + "\nloss = model(torch.ones(2, 4))\n")
    github.calls.clear()

    assert "updated #" in bot("open").stderr
    assert [method for method, _ in github.writes()] == ["PATCH"]
    assert only(github)["title"] == "fix(device): tensor-without-device in 2 places"
    assert "torch.ones(2, 4, device=device)" in main.there("devfix/device", "train.py")


def test_it_is_closed_when_there_is_nothing_to_repair(bot, github, main):
    bot("open")
    main.commit(train__py=CLEAN)

    assert "closed #" in bot("open").stderr
    assert only(github)["state"] == "closed"
    assert main.branches() == ["main"]


def test_each_group_has_its_own(bot, github, main):
    main.commit(pyproject__toml=GROUPED, train__py=LOADED)

    assert bot("open").code == 0
    assert sorted(pull["head"]["ref"] for pull in github.pulls.values()) == ["devfix/checkpoints", "devfix/device"]
    assert "map_location" in main.there("devfix/checkpoints", "train.py")
    assert "map_location" not in main.there("devfix/device", "train.py")


def test_a_group_that_is_gone_is_closed(bot, github, main):
    main.commit(pyproject__toml=GROUPED, train__py=LOADED)
    bot("open")
    main.commit(pyproject__toml=CONFIGURATION)

    assert "the group is no longer configured: closed #" in bot("open").stderr


@pytest.mark.parametrize("say", [True, False], ids=["comment", "label"])
def test_it_is_left_alone_where_somebody_says_stop(bot, github, main, say):
    bot("open")
    (number,) = github.pulls
    if say:
        github.say(number, "Stop.")
    else:
        github.pulls[number]["labels"].append("devfix: ignore")
    main.commit(train__py=BROKEN.replace("8, 4", "9, 4"))
    before = main.git("ls-remote", "origin", "devfix/device")
    github.calls.clear()

    assert "skipped" in bot("open").stderr
    assert (github.writes(), main.git("ls-remote", "origin", "devfix/device")) == ([], before)


def test_what_was_closed_is_not_opened_again_until_it_is_another(bot, github, main):
    bot("open")
    only(github)["state"] = "closed"
    assert "has the same patch and was closed" in bot("open").stderr

    main.commit(train__py=BROKEN.replace("8, 4", "9, 4"), pyproject__toml=CONFIGURATION + "max-hourly = 9\n")
    assert "opened #" in bot("open").stderr


def test_other_people_s_work_on_the_branch_is_left_alone(bot, github, main):
    bot("open")
    main.git("fetch", "-q", "origin")
    main.git("checkout", "-q", "-b", "theirs", "origin/devfix/device")
    main.git("commit", "-q", "--allow-empty", "-m", "mine")
    main.git("push", "-q", "origin", "theirs:devfix/device")
    main.git("checkout", "-q", "main")
    main.commit(train__py=BROKEN.replace("8, 4", "9, 4"))

    assert "has a commit by ann@example.org" in bot("open").stderr


def test_other_people_s_work_on_the_branch_is_not_deleted(bot, github, main):
    bot("open")
    main.git("fetch", "-q", "origin")
    main.git("checkout", "-q", "-b", "theirs", "origin/devfix/device")
    main.git("commit", "-q", "--allow-empty", "-m", "mine")
    main.git("push", "-q", "origin", "theirs:devfix/device")
    main.git("checkout", "-q", "main")
    main.commit(train__py=CLEAN)

    assert "nothing to fix, but skipped: the branch devfix/device has a commit by ann@example.org" in bot("open").stderr
    assert only(github)["state"] == "open"
    assert "mine" in run_git("log", "-1", "--format=%s", "devfix/device", cwd=main.bare)


def test_a_branch_of_a_person_with_a_copied_text_is_not_deleted(bot, github, main):
    bot("open")
    copied = only(github)["body"]
    main.branch("devfix/mine")
    main.commit(notes__txt="mine\n")
    github.add_pull("devfix/mine", body=copied)
    main.git("checkout", "-q", "main")

    assert "no longer configured, but skipped: the branch devfix/mine has a commit by" in bot("open").stderr
    assert "devfix/mine" in main.branches()


def test_a_branch_whose_name_ends_like_the_bot_s_is_another_one(bot, github, main):
    bot("open")
    main.git("push", "-q", "origin", "main:refs/heads/a/refs/heads/devfix/device")
    main.commit(train__py=BROKEN.replace("8, 4", "9, 4"))

    assert "updated #" in bot("open").stderr


@pytest.mark.parametrize(("key", "words"), [("max-open", "max-open is 1"), ("max-hourly", "max-hourly is 1")])
def test_limits(bot, github, main, key, words):
    main.commit(pyproject__toml=GROUPED.replace("max-hourly = 9", f"{key} = 1"), train__py=LOADED)
    number = github.add_pull("main")
    now = datetime.now(timezone.utc).isoformat()
    github.pulls[number].update(
        head={**github.pulls[number]["head"], "ref": "devfix/checkpoints"},
        body=f"<!-- devfix:group=checkpoints patch={'0' * 64} -->",
        created_at=now,
    )

    assert words in bot("open").stderr
    assert [pull["head"]["ref"] for pull in github.pulls.values()] == ["devfix/checkpoints"]


@pytest.mark.parametrize("state", ["closed", "merged"])
def test_what_was_opened_and_closed_within_the_hour_counts(bot, github, main, state):
    now = datetime.now(timezone.utc)
    for age, branch in enumerate(("devfix/one", "devfix/two", "topic")):
        number = github.add_pull("main", body=f"<!-- devfix:group=one patch={'0' * 64} -->" if age < 2 else "")
        github.pulls[number].update(
            head={**github.pulls[number]["head"], "ref": branch},
            state="closed",
            merged_at=now.isoformat() if state == "merged" else None,
            created_at=(now - timedelta(minutes=20 * age)).isoformat(),
        )

    assert "2 pull requests were opened within the last hour; max-hourly is 2" in bot("open").stderr
    github.pulls[min(github.pulls)]["created_at"] = (now - timedelta(minutes=61)).isoformat()
    assert "opened #" in bot("open").stderr


def test_trouble_with_one_group_keeps_no_other_from_its_turn(bot, github, main):
    main.commit(pyproject__toml=GROUPED, train__py=LOADED)
    github.troubles.append(("POST", Answer(422, {"message": "Validation Failed"})))

    result = bot("open")

    assert result.code == 2 and "checkpoints: GitHub: a pull request from devfix/checkpoints: 422" in result.stderr
    assert only(github)["head"]["ref"] == "devfix/device" and "device: opened #" in result.stderr


def test_a_dry_run_keeps_to_the_limit_of_an_hour(bot, github, main):
    main.commit(pyproject__toml=GROUPED.replace("max-hourly = 9", "max-hourly = 1"), train__py=LOADED)

    told = bot("open", "--dry-run").stderr

    assert (told.count(": opened #0"), told.count("max-hourly is 1")) == (1, 1)


@pytest.mark.parametrize(
    ("name", "words"), [("made.py", "is not in the commit"), ("windows.py", "differs from the commit")]
)
def test_a_file_that_is_not_as_in_the_commit_is_left_alone(bot, github, main, name, words):
    (main.tree / ".gitattributes").write_text("windows.py text eol=crlf\n")
    main.commit(windows__py=CLEAN)
    (main.tree / name).write_text(BROKEN, newline="\r\n")

    assert bot("open").code == 0
    assert f"{name}' {words}" in only(github)["body"]
    assert run_git("diff", "--name-only", "main", "devfix/device", cwd=main.bare) == "train.py"


def test_a_file_of_the_ci_is_left_alone_and_told_and_the_others_are_repaired(bot, github, main):
    (main.tree / ".github" / "scripts").mkdir(parents=True)
    (main.tree / ".github" / "scripts" / "train.py").write_text(BROKEN)
    main.commit(pyproject__toml=CONFIGURATION + 'paths = [".github/scripts", "train.py"]\n')

    assert bot("open").code == 0
    assert "is hidden (it may configure CI)" in only(github)["body"]
    assert main.git("ls-remote", "origin", "devfix/device")
    assert run_git("diff", "--name-only", "main", "devfix/device", cwd=main.bare) == "train.py"


def test_only_the_tip_of_the_default_branch_is_repaired(bot, github, main):
    main.git("commit", "-q", "--allow-empty", "-m", "ahead")

    result = bot("open")

    assert result.code == 2 and "run devfix bot open on main" in result.stderr


def test_nothing_where_nobody_asks(bot, github, main):
    main.commit(pyproject__toml="[tool.devfix]\n")

    assert bot("open").code == 0
    assert github.calls == []


def test_a_dry_run_opens_and_pushes_nothing(bot, github, main):
    result = bot("open", "--dry-run")

    assert result.code == 0, result.stderr
    assert "POST" in result.stderr and "(not sent)" in result.stderr and "fix(device)" in result.stderr
    assert (github.writes(), main.branches()) == ([], ["main"])


def test_with_evidence(bot, github, main):
    pytest.importorskip("torch")
    training = BROKEN.replace('"cuda"', '"cuda" if torch.cuda.is_available() else "cpu"').replace(
        "for step", "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor step"
    )
    training = "import torch\ntorch.manual_seed(1)\n" + training + "    optimizer.step()\n    optimizer.zero_grad()\n"
    verify = '[tool.devfix.bot.verify]\nscript = "train.py"\ndevice = "sim"\n'
    main.commit(pyproject__toml=CONFIGURATION + verify, train__py=training)

    result = bot("open")

    assert result.code == 0, result.stderr
    body = only(github)["body"]
    assert "**fixed**" in body and "| first loss | last loss |" in body and "simulated CUDA device" in body
    assert "devfix verify train.py" in body
