"""Records, and small git repositories with and without a bug."""

import os
import subprocess
from pathlib import Path

import pytest

from devfix.migrate.record import Part, Published, Record, RepositoryOutcome, RunSummary, VerdictSummary
from devfix.migrate.task import Task

BROKEN = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    batch = torch.randn(8, 4)
    loss = model(batch).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

CLEAN = BROKEN.replace("torch.randn(8, 4)", "torch.randn(8, 4, device=device)")


def run_git(*arguments, cwd, stdin=None):
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PERSON.items()},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env=environment, stdin=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PERSON = {"NAME": "A Person", "EMAIL": "person@example.org", "DATE": "2026-01-02T03:04:05+0000"}


def make_repository(folder, files):
    """A git repository with one commit of these files."""
    folder = Path(folder)
    folder.mkdir(parents=True)
    run_git("init", "-q", "-b", "main", cwd=folder)
    return make_commit(folder, files)


def make_commit(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    run_git("add", "-A", cwd=folder)
    run_git("commit", "-q", "--allow-empty", "-m", "work", cwd=folder)
    return folder


@pytest.fixture
def repository(tmp_path):
    """A repository with one bug."""
    return make_repository(tmp_path / "project", {"train.py": BROKEN, "README": "hello\n"})


@pytest.fixture
def git():
    """Runs git in a folder, and returns what it prints."""
    return run_git


@pytest.fixture
def commit():
    """Writes files into a repository, and commits them."""
    return make_commit


@pytest.fixture
def make():
    """Makes a git repository with one commit of some files."""
    return make_repository


@pytest.fixture
def broken():
    return BROKEN


@pytest.fixture
def clean():
    return CLEAN


@pytest.fixture
def task(repository, tmp_path):
    return Task(0, "project", str(repository), mirrors=str(tmp_path / "mirrors"), scratch=str(tmp_path / "scratch"))


def finding_document(**changes):
    place = {"path": "train.py", "line": 8, "column": 13, "source": "batch = torch.randn(8, 4)"}
    found = {
        "code": "DEV401",
        "name": "tensor-without-device",
        "severity": "error",
        "status": "fixed",
        "message": "`batch` is made on the CPU",
        "path": "train.py",
        "span": {"line": 8, "column": 13, "end_line": 8, "end_column": 30},
        "events": [{"kind": "created", **place, "note": "made here"}],
        "fix": {"title": "make `batch` on `device`", "applicability": "safe", "files": ["train.py"]},
        "reason": None,
        "notes": [],
    }
    return {**found, **changes}


def run_summary(**changes):
    given = {"outcome": "ended", "ok": True, "steps": 3, "losses": (1.5, float("nan"), 0.25), "output": "loss 1.5\n"}
    return RunSummary(**{**given, **changes})


def full_record(**changes):
    """A record in which every key says something."""
    verdict = VerdictSummary(
        "fixed",
        "3 losses over 3 steps are equal",
        True,
        reference="original/cpu",
        where="a simulated CUDA device",
        script="train.py",
        arguments=("--epochs", "1"),
        notes=("the network could be reached",),
        runs={
            "original/cpu": run_summary(),
            "original/device": run_summary(
                outcome="RuntimeError: …", ok=False, steps=0, losses=(), traceback="Traceback …"
            ),
            "patched/device": run_summary(largest_difference=0.0, wall_s=1.5, memory_mb=300.0),
        },
    )
    given = {
        "number": 7,
        "name": "lab-project",
        "repository": "https://example.org/lab/project.git",
        "outcome": RepositoryOutcome.FIXED,
        "ref": "main",
        "folder": "training",
        "commit": "0123456789" * 4,
        "findings": (finding_document(),),
        "problems": ({"path": "bad.py", "line": 3, "message": "does not parse", "hint": None},),
        "notes": ({"path": "train.py", "line": None, "message": "unused suppression", "hint": "remove it"},),
        "checked": 4,
        "patch": "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old \udce9\n+new\n",
        "published": Published("push", "patches/lab-project.patch", "devfix/device", "abcdef0123" * 4, "/mirror"),
        "parts": (
            Part(("@lab/core",), "lab-core", ("train.py",), Published("push", "", "devfix/device-lab-core")),
            Part((), "unowned", ("other.py",)),
        ),
        "verdict": verdict,
        "reason": "",
        "seconds": 12.5,
        "timings": {"fetch": 1.5, "scan": 0.5, "verify": 10.5},
        "cpu_s": 11.5,
        "memory_mb": 250.0,
        "log": "warning: …",
    }
    return Record(**{**given, **changes})


@pytest.fixture
def record():
    return full_record()


@pytest.fixture
def record_with():
    """Makes records in which every key says something, with these changes."""
    return full_record
