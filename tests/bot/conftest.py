"""A repository that is served over http, a host that answers, and the bot in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

pytest.importorskip("githubkit", reason="the bot's packages are missing: pip install 'devfix[bot]'")

from bot.github_server import REPOSITORY, GitHub
from bot.serving import TOKEN

from devfix.cli import main
from devfix.cli.commands.migrate import SUBCOMMANDS
from devfix.engine.parallel_scan import forget_listings

CONFIGURATION = "[tool.devfix.bot]\nenabled = true\n"
HEAD = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
"""
STEP = "for step in range(4):\n    loss = model({batch}).sum()\n    loss.backward()\n"
BROKEN = HEAD + STEP.format(batch="torch.randn(8, 4)")
CLEAN = HEAD + STEP.format(batch="torch.randn(8, 4, device=device)")


@dataclass(frozen=True)
class Result:
    code: int
    stdout: str
    stderr: str


class Repository:
    """A checkout and the bare repository that it was cloned from."""

    def __init__(self, folder):
        self.bare, self.tree = folder / "nets.git", folder / "tree"
        run_git("init", "-q", "--bare", "-b", "main", str(self.bare), cwd=folder)
        run_git("-C", str(self.bare), "config", "http.receivepack", "true", cwd=folder)
        run_git("-C", str(self.bare), "config", "uploadpack.allowAnySHA1InWant", "true", cwd=folder)
        run_git("clone", "-q", str(self.bare), str(self.tree), cwd=folder)
        run_git("checkout", "-q", "-b", "main", cwd=self.tree)

    def git(self, *arguments):
        return run_git(*arguments, cwd=self.tree)

    def commit(self, message="work", **files):
        """Commit files (two underscores stand for a dot) and push the branch."""
        for name, text in files.items():
            path = self.tree / name.replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        branch = self.git("branch", "--show-current")
        self.git("push", "-q", "origin", branch)
        return self.git("rev-parse", "HEAD")

    def branch(self, name):
        self.git("checkout", "-q", "-B", name)

    def there(self, branch, path):
        """A file of a branch at the remote."""
        return run_git("show", f"{branch}:{path}", cwd=self.bare)

    def branches(self):
        return run_git("for-each-ref", "--format=%(refname:short)", "refs/heads", cwd=self.bare).split()


def run_git(*arguments, cwd):
    person = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.org"))
    }
    environment = {**os.environ, **person, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    made = Repository(tmp_path)
    monkeypatch.chdir(made.tree)
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_", "GITLAB_", "ACTIONS_"))]:
        monkeypatch.delenv(name)
    return made


@pytest.fixture
def github(repository):
    api = GitHub(repository.bare)
    yield api
    api.stop()


@pytest.fixture
def job(github, tmp_path, monkeypatch):
    """Set the environment of a job of GitHub Actions, for a pull request where one is named."""

    def call(number=None, event="pull_request", token=TOKEN, payload=None):
        if payload is None and number is not None:
            pull = github.pulls[number]
            sides = {
                side: {"sha": pull[side]["sha"], "ref": pull[side]["ref"], "repo": pull[side]["repo"]}
                for side in ("head", "base")
            }
            payload = {"pull_request": {"number": number, **sides}}
        (tmp_path / "event.json").write_text(json.dumps(payload or {}))
        monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
        monkeypatch.setenv("GITHUB_API_URL", github.url)
        monkeypatch.setenv("GITHUB_EVENT_NAME", event)
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
        if token:
            monkeypatch.setenv("GITHUB_TOKEN", token)
        else:
            monkeypatch.delenv("GITHUB_TOKEN", raising=False)

    return call


@pytest.fixture
def bot(capfd, monkeypatch):
    """``devfix bot`` in this process, which forgets between two calls what folders hold."""

    def call(*arguments):
        forget_listings()
        folder, variables = os.getcwd(), dict(os.environ)
        with pytest.raises(SystemExit) as exited:
            main(["bot", *map(str, arguments)])
        assert TOKEN not in os.environ.values()
        os.chdir(folder)
        os.environ.update(variables)
        sys.stdout.flush()
        captured = capfd.readouterr()
        assert TOKEN not in captured.out + captured.err
        return Result(exited.value.code, captured.out, captured.err)

    return call


@pytest.fixture
def pull(repository, github):
    """A pull request that brings a bug."""
    repository.commit(pyproject__toml=CONFIGURATION, train__py=CLEAN)
    repository.branch("topic")
    repository.commit(train__py=BROKEN)
    return github.add_pull("topic")


@pytest.fixture
def plan(repository, github, tmp_path, monkeypatch):
    """Writes a plan that opens pull requests for some refs of a repository with a bug."""
    repository.commit(train__py=BROKEN)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "nets.git").symlink_to(repository.bare)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("DEVFIX_CACHE_DIR", str(tmp_path / "cache"))
    source = github.url.replace("://", f"://x-access-token:{TOKEN}@") + "/git/lab/nets.git"

    def write(*refs, **keys):
        lines = [f"{key.replace('_', '-')} = {json.dumps(value)}" for key, value in keys.items()]
        parts = ["[defaults]", 'result = "pull-request"', *lines]
        parts += [f'[[repository]]\nurl = "{source}"\nref = "{ref}"' for ref in refs]
        (tmp_path / "plan.toml").write_text("\n".join(parts) + "\n")
        return str(tmp_path / "plan.toml")

    return write


class InThisProcess:
    """An engine without worker processes, which would read all models again for each test."""

    def run(self, tasks, work, jobs):
        for task in tasks:
            forget_listings()
            yield work(task)


@pytest.fixture
def workers():
    """Whether repositories are processed by worker processes, as for a person."""
    return False


@pytest.fixture
def migrate(capfd, tmp_path, monkeypatch, workers):
    """``devfix migrate`` in this process, with its output folder as the last argument of subcommands."""
    if not workers:
        monkeypatch.setattr("devfix.cli.migrating.run._engine", lambda engine, scheduler: InThisProcess())

    def call(*arguments, code=0):
        subcommand = arguments[0] in SUBCOMMANDS
        where = [str(tmp_path / "out")] if subcommand else ["--out", str(tmp_path / "out"), "-j", "1"]
        with pytest.raises(SystemExit) as exited:
            main(["migrate", *arguments, *where])
        captured = capfd.readouterr()
        assert exited.value.code == code, captured.err
        return captured.out + captured.err

    return call
