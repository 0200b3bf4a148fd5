"""What is done stays done."""

import os
from dataclasses import replace

import pytest

from devfix.migrate.changes import Change, ChangeState
from devfix.migrate.record import RepositoryOutcome
from devfix.migrate.run import scratch_folder
from devfix.migrate.state import State, StateError


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "out" / "state.log")


def records(state, task):
    return [state.record(entry) for entry in state.entries(task)]


def stored(path, *pairs):
    state = State(path)
    for task, record in pairs:
        state.put(task, record)
    state.close()


def test_a_record_is_there_for_the_same_settings_only(path, task, record):
    stored(path, (task, record))

    again = State(path)
    assert [each.line() for each in records(again, task)] == [record.line()]
    assert again.entries(replace(task, severity="latent")) == ()
    assert again.entries(replace(task, folder="lab")) == ()
    again.close()


def test_each_commit_has_its_entry_and_the_latest_is_first(path, task, record):
    other = replace(record, commit="f" * 40)
    stored(path, (task, record), (task, other), (task, record))

    state = State(path)
    assert [each.commit for each in records(state, task)] == [record.commit, other.commit]
    state.forget(task)
    state.close()

    state = State(path)
    assert state.entries(task) == ()
    state.close()


def test_a_failure_before_any_commit_goes_when_there_is_more(path, task, record):
    state = State(path)
    state.put(task, task.failed("fetch", "no connection"))
    assert [each.outcome for each in records(state, task)] == [RepositoryOutcome.FAILED]
    state.put(task, record)

    assert [each.commit for each in records(state, task)] == [record.commit]
    state.close()


def test_the_latest_of_each_repository_counts_whatever_its_settings(path, task, record):
    second = replace(task, source="/other")
    first = replace(record, number=1)
    stored(path, (task, first), (second, replace(record, number=0)), (replace(task, severity="latent"), first))

    state = State(path, writable=False)
    assert [entry.number for entry in state.latest()] == [0, 1]
    assert state.latest()[1] == state.entries(replace(task, severity="latent"))[0]
    state.close()


def test_two_at_a_time_are_refused_and_readers_are_not(path):
    state = State(path)
    state.note_run({"plan": "plan.toml"})

    with pytest.raises(StateError, match="in use by another"):
        State(path)
    reader = State(path, writable=False)
    assert reader.run == {"plan": "plan.toml"}
    reader.close()
    state.close()
    State(path).close()


@pytest.mark.parametrize(
    "content",
    [b"not a log\n" * 40, b"no line feed", b"\0" * 4096, b"SQLite format 3\0" + bytes(4000)],
    ids=["text", "short", "zeros", "sqlite"],
)
def test_a_file_of_another_kind_is_left_alone(tmp_path, content):
    other = tmp_path / "notes.txt"
    other.write_bytes(content)

    with pytest.raises(StateError, match="choose another --state"):
        State(str(other))
    assert other.read_bytes() == content


def test_a_file_of_another_version_is_left_alone(path, task, record, monkeypatch):
    monkeypatch.setattr("devfix.migrate.state._VERSION", b"99")
    stored(path, (task, record))
    monkeypatch.undo()

    with pytest.raises(StateError, match="version 99"):
        State(path)


def test_a_full_disk_is_one_line_and_nothing_is_torn(path, task, record, monkeypatch):
    state = State(path)
    state.put(task, record)
    calls = iter([10])  # bytes that fit

    def full(file, data, offset):
        fits = next(calls, 0)
        with open(path, "r+b") as target:
            target.seek(offset)
            return target.write(data[:fits])

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(StateError, match=r"No space left.*free some space") as caught:
        state.put(task, replace(record, commit="e" * 40))
    monkeypatch.undo()

    assert "\n" not in str(caught.value)
    state.put(task, replace(record, commit="d" * 40))
    state.close()
    again = State(path)
    assert (again.damaged, [each.commit[0] for each in records(again, task)]) == (0, ["d", record.commit[0]])
    again.close()


def test_damage_costs_the_damaged_entries_only(path, task, record):
    tasks = [replace(task, source=f"/r{number}") for number in range(4)]
    stored(path, *((each, record) for each in tasks))
    with open(path, "r+b") as file:
        lines = file.read().splitlines(keepends=True)
        file.seek(len(lines[0]) + 200)
        file.write(b"\0" * 50 + b"\n" + b"\xff" * 5)

    state = State(path)

    assert [len(state.entries(each)) for each in tasks] == [1, 0, 1, 1]
    assert state.damaged == 2, "one line became two"
    state.close()


def test_an_entry_of_a_wrong_form_is_no_record(path, task, record):
    stored(path, (task, record))
    state = State(path)
    (entry,) = state.entries(task)
    state._append(b"record", b"not hexadecimal")
    state.close()

    again = State(path)
    assert again.damaged == 1 and again.entries(task) == (entry,)
    again.close()


@pytest.mark.parametrize("kept", [0, 5, 9, 40, -1])
def test_a_torn_last_line_goes_without_a_word(path, task, record, kept):
    stored(path, (task, record))
    with open(path, "rb") as file:
        line = file.read()
    with open(path, "ab") as file:
        file.write(line[:kept])

    reader = State(path, writable=False)
    assert len(reader.entries(task)) == 1
    reader.close()
    state = State(path)
    assert (state.damaged, len(state.entries(task))) == (0, 1)
    state.put(task, record)
    state.close()
    again = State(path)
    assert again.damaged == 0
    again.close()


def test_compaction_keeps_what_counts(path, task, record, tmp_path):
    state = State(path)
    state.note_run({"plan": "old"})
    other = replace(task, source="/other")
    for _ in range(20):
        state.put(task, record)
        state.put(other, replace(record, commit="f" * 40))
    state.put(task, replace(record, commit="e" * 40))
    state.note_run({"plan": "new"})
    before = (tmp_path / "out" / "state.log").stat().st_size

    state.compact()
    state.put(other, replace(record, commit="d" * 40))

    assert (tmp_path / "out" / "state.log").stat().st_size < before / 5
    for each in (state, again := State(path, writable=False)):
        assert [r.commit[0] for r in records(each, task)] == ["e", record.commit[0]]
        assert [r.commit[0] for r in records(each, other)] == ["d", "f"]
        assert each.run == {"plan": "new"}
    again.close()
    state.close()


def test_a_reader_is_not_disturbed_by_a_compaction(path, task, record, monkeypatch):
    stored(path, *[(task, record)] * 5)
    opened_by_reader = os.open

    def compact_meanwhile(name, *arguments):
        file = opened_by_reader(name, *arguments)
        if name == path:
            monkeypatch.undo()
            state = State(path)
            state.compact()
            state.close()
        return file

    monkeypatch.setattr(os, "open", compact_meanwhile)
    reader = State(path, writable=False)

    assert [each.line() for each in records(reader, task)] == [record.line()]
    reader.close()


def test_a_log_that_is_mostly_waste_is_compacted_when_it_is_opened(path, task, record, tmp_path, monkeypatch):
    monkeypatch.setattr("devfix.migrate.state._MIN_WASTE", 1000)
    stored(path, *[(task, record)] * 50)
    before = (tmp_path / "out" / "state.log").stat().st_size

    stored(path)

    assert (tmp_path / "out" / "state.log").stat().st_size < before / 10


def test_a_pull_request_comes_back(path, task, record):
    change = replace(Change.of(task), labels=("a",), state=ChangeState.OPEN, url="https://h/pull/1")
    state = State(path)
    state.put(task, record, [change])
    (entry,) = state.latest()
    state.replace_change(entry, record, replace(change, state=ChangeState.MERGED))
    state.close()

    again = State(path)
    (entry,) = again.entries(task)
    assert again.changes(entry) == (replace(change, state=ChangeState.MERGED),)
    assert again.record(entry).line() == record.line()
    again.close()


def test_a_link_to_a_state_is_the_same_state(path, tmp_path):
    state = State(path)
    state.note_run({"plan": "plan.toml"})
    (tmp_path / "link.log").symlink_to(path)

    with pytest.raises(StateError, match="in use by another"):
        State(str(tmp_path / "link.log"))
    state.close()
    assert scratch_folder(str(tmp_path / "link.log")) == scratch_folder(path)


def test_a_state_whose_lock_somebody_deleted_is_in_use(path):
    state = State(path)
    state.note_run({"plan": "plan.toml"})
    state.compact()
    os.unlink(f"{path}.lock")

    with pytest.raises(StateError, match="in use by another"):
        State(path)
    state.close()
