"""What is done stays done."""

import sqlite3
from dataclasses import replace

import pytest

from devfix.migrate.record import RepositoryOutcome
from devfix.migrate.state import State, StateError


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "out" / "state.sqlite")


def test_a_record_is_there_for_the_same_settings_only(path, task, record):
    state = State(path)
    state.put(task, record)
    state.close()

    again = State(path)
    assert [each.line() for each in again.records(task)] == [record.line()]
    assert again.records(replace(task, severity="latent")) == []
    assert again.records(replace(task, folder="lab")) == []
    again.close()


def test_each_commit_has_its_row_and_the_latest_is_first(path, task, record):
    state = State(path)
    other = replace(record, commit="f" * 40)
    for each in (record, other, record):
        state.put(task, each)

    assert [each.commit for each in state.records(task)] == [record.commit, other.commit]
    state.forget(task)
    assert state.records(task) == []
    state.close()


def test_a_failure_before_any_commit_goes_when_there_is_more(path, task, record):
    state = State(path)
    state.put(task, task.failed("fetch", "no connection"))
    assert [each.outcome for each in state.records(task)] == [RepositoryOutcome.FAILED]
    state.put(task, record)

    assert [each.commit for each in state.records(task)] == [record.commit]
    state.close()


def test_it_is_a_write_ahead_log(path):
    state = State(path)

    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)
    state.close()


def test_two_at_a_time_are_refused(path):
    state = State(path)

    with pytest.raises(StateError, match="in use by another"):
        State(path)
    state.close()
    State(path).close()


def test_a_file_of_another_version_or_of_another_kind_is_left_alone(path, tmp_path):
    State(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StateError, match="version 99"):
        State(path)

    other = tmp_path / "notes.txt"
    other.write_text("not a database, but long enough to be looked at as one " * 40)
    with pytest.raises(StateError, match="choose another --state"):
        State(str(other))
    assert other.read_text().startswith("not a database")


def test_a_full_disk_is_one_line(path, task, record):
    state = State(path)
    state._connection.execute("PRAGMA max_page_count = 5")

    with pytest.raises(StateError, match=r"full.*free some space") as caught:
        state.put(task, replace(record, log="x" * 1_000_000))

    assert "\n" not in str(caught.value)
    assert state.records(task) == []
    state.close()
