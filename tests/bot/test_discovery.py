"""Plans of the repositories of an organization or a group."""

from __future__ import annotations

import pytest
from bot.gitlab_server import GitLab
from bot.serving import TOKEN

from devfix.cli import main
from devfix.migrate.plan import read_plan

PUSHED = "2026-03-01T00:00:00Z"
REPOSITORIES = {
    "good": {"language": "Python", "stargazers_count": 5, "pushed_at": PUSHED},
    "another": {"language": "Python", "stargazers_count": 9, "pushed_at": PUSHED},
    "unknown": {"language": "Python", "stargazers_count": 0, "pushed_at": PUSHED},
    "other": {"language": "Rust", "stargazers_count": 9, "pushed_at": PUSHED},
    "old": {"language": "Python", "stargazers_count": 9, "pushed_at": "2020-01-01T00:00:00Z"},
    "empty": {"language": "Python", "stargazers_count": 9, "pushed_at": None},
    "kept": {"language": "Python", "stargazers_count": 9, "pushed_at": PUSHED, "archived": True},
    "copy": {"language": "Python", "stargazers_count": 9, "pushed_at": PUSHED, "fork": True},
}
FILTERS = ("--language", "python", "--min-stars", "1", "--pushed-since", "2025-01-01")


@pytest.fixture
def init(repository, capfd, tmp_path):
    """Write a plan, and return the names of its repositories, or the error."""

    def call(*arguments):
        plan = tmp_path / "plan.toml"
        plan.unlink(missing_ok=True)
        with pytest.raises(SystemExit) as exited:
            main(["migrate", "init", "-o", str(plan), *arguments])
        told = capfd.readouterr().err
        if exited.value.code:
            return told
        return [task.source.rpartition("/")[2].removesuffix(".git") for task in read_plan(str(plan))]

    return call


@pytest.fixture
def organization(github, monkeypatch):
    github.repositories = REPOSITORIES
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    return github


def test_repositories_of_an_organization_pass_filters(init, organization):
    assert init("--discover", "github:org/lab", *FILTERS) == ["another", "good"]
    assert init("--discover", "github:user/ann", *FILTERS, "--archived", "--forks") == [
        "another",
        "copy",
        "good",
        "kept",
    ]
    assert len(init("--discover", "github:org/lab", "--archived", "--forks")) == len(REPOSITORIES)


def test_projects_of_a_group(init, repository, monkeypatch):
    gitlab = GitLab(repository.bare)
    monkeypatch.setenv("CI_SERVER_URL", gitlab.url)
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    gitlab.projects_of_group = [
        {"id": number, "http_url_to_repo": f"https://gitlab.test/lab/core/{name}.git", **each}
        for number, (name, each) in enumerate(
            {
                "good": {"star_count": 3, "last_activity_at": PUSHED},
                "old": {"star_count": 3, "last_activity_at": "2020-01-01T00:00:00Z"},
                "kept": {"star_count": 3, "last_activity_at": PUSHED, "archived": True},
                "copy": {"star_count": 3, "last_activity_at": PUSHED, "forked_from_project": {"id": 1}},
                "other": {"star_count": 3, "last_activity_at": PUSHED},
            }.items()
        )
    ]
    gitlab.languages = {0: {"Python": 91.3, "Shell": 8.7}, 4: {"Rust": 100.0}}

    assert init("--discover", "gitlab:group/lab/core", *FILTERS) == ["good"]
    assert [path for _, path, _ in gitlab.calls if path.endswith("/languages")] == [
        "/projects/0/languages",
        "/projects/4/languages",
    ]
    assert "no repository here passes" in init("--discover", "gitlab:group/lab/core", *FILTERS, "--language", "Go")
    gitlab.stop()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--discover", "github:lab"], "is not of the form github:org/NAME"),
        (["--discover", "hub:org/lab"], "is not of the form"),
        (["--min-stars", "3"], "filters are for --discover"),
        (["--discover", "github:org/lab", "--min-stars", "99"], "no repository here passes the filters"),
    ],
)
def test_a_wrong_use_is_told(init, organization, arguments, words):
    assert words in init(*arguments)


def test_a_refused_request_is_told(init, organization, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "wrong")

    assert "repositories of lab: 401" in init("--discover", "github:org/lab")
