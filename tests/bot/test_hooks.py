"""The hooks with the real pre-commit, on a scratch repository: it installs the last commit, and what that needs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bot.conftest import BROKEN, run_git

ROOT = Path(__file__).parents[2]
LARGEST = 100  # MB: pre-commit.ci has 250 for everything

pytestmark = pytest.mark.skipif(
    not os.environ.get("DEVFIX_ALL_HOOKS") or importlib.util.find_spec("pre_commit") is None,
    reason="builds an environment: nox -s hooks runs it",
)


@pytest.fixture
def pre_commit(repository, tmp_path):
    commit = run_git("rev-parse", "HEAD", cwd=ROOT)
    hooks = "  - id: devfix\n  - id: devfix-fix\n    stages: [manual]\n"
    configuration = f"repos:\n- repo: {ROOT}\n  rev: {commit}\n  hooks:\n{hooks}"
    (repository.tree / ".pre-commit-config.yaml").write_text(configuration)
    (repository.tree / "pyproject.toml").write_text('[tool.devfix]\nexclude = ["old/"]\n')
    repository.git("add", "-A")
    home = tmp_path / "home"

    def call(*arguments):
        command = [sys.executable, "-m", "pre_commit", "run", "--color=never", *arguments]
        environment = {**os.environ, "PRE_COMMIT_HOME": str(home)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    call.home = home
    return call


def test_the_hooks(pre_commit, repository):
    (repository.tree / "old").mkdir()
    for path in ("train.py", "old/train.py"):
        (repository.tree / path).write_text(BROKEN)
    repository.git("add", "-A")

    done = pre_commit("devfix")
    assert done.returncode == 1, done.stdout
    assert "train.py:7:18 error DEV102" in done.stdout and "old/train.py" not in done.stdout

    fixed = pre_commit("devfix-fix", "--hook-stage", "manual")
    assert "files were modified by this hook" in fixed.stdout
    assert ".to(device)).sum()" in (repository.tree / "train.py").read_text()
    repository.git("add", "-A")
    assert pre_commit("devfix", "--all-files").returncode == 0

    (environment,) = pre_commit.home.glob("repo*/py_env*")
    size = sum(path.lstat().st_size for path in environment.rglob("*") if path.is_file()) / 1e6
    print(f"the environment has {size:.1f} MB")
    assert size < LARGEST
    assert not list(environment.rglob("site-packages/torch"))
