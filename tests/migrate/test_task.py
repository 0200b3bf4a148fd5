"""A task travels, and knows what decides on its result."""

import pickle
from dataclasses import replace

import pytest

from devfix.migrate.task import Publishing, Verification


def test_a_task_travels(task):
    task = replace(task, verification=Verification("train.py", ("--epochs", "1")))

    assert pickle.loads(pickle.dumps(task)) == task


@pytest.mark.parametrize(
    "change",
    [
        {"ref": "dev"},
        {"folder": "training"},
        {"select": ("DEV1",)},
        {"severity": "latent"},
        {"unsafe_fixes": True},
        {"verification": Verification("train.py")},
        {"publishing": Publishing("branch")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_decides_on_the_result_is_in_the_key(task, change):
    assert replace(task, **change).settings_key != task.settings_key


def test_what_does_not_decide_is_not(task):
    other = replace(task, number=9, mirrors="elsewhere", scratch="there", timeout=1.0, done_commits=("0" * 40,))

    assert other.settings_key == task.settings_key


def test_a_failure_shows_no_credentials(task):
    task = replace(task, source="https://me:hunter2@example.org/a.git")

    record = task.failed("fetch", f"{task.source} is not there", log=f"fatal: {task.source}")

    assert "hunter2" not in record.line()
    assert record.repository == "https://***@example.org/a.git"
