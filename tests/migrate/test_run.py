"""A migration: what is left, what is kept, what comes out."""

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from devfix.migrate.disk import DISK_FULL
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.migrate.run import Choice, Migration, Tally, exit_code, select_tasks
from devfix.migrate.state import State, StateError
from devfix.migrate.task import Publishing, Task

COMMIT = "ab" * 20


class InThisProcess:
    """An engine without workers, which hands over the last task first."""

    def __init__(self):
        self.given = []

    def run(self, tasks: Iterable[Task], work, jobs):
        waiting = list(tasks)
        self.given = [task.name for task in waiting]
        for task in reversed(waiting):
            yield work(task)


def work(task):
    """Outcomes by name; commits of repositories that did not change are not worked on again."""
    if task.name == "lost":
        return task.failed("fetch", "no connection")
    if COMMIT in task.done_commits:
        return replace(task.failed("fetch", ""), commit=COMMIT, unchanged=True)
    fixed = task.name.startswith("fixed")
    patch = f"--- a/{task.name}\n" if fixed else ""
    word = {"broken": RepositoryOutcome.FAILED, "left": RepositoryOutcome.NOT_FIXED}.get(
        task.name, RepositoryOutcome.FIXED if fixed else RepositoryOutcome.CLEAN
    )
    return Record(task.number, task.name, task.repository, word, commit=COMMIT, patch=patch)


def tasks_of(names):
    return [Task(number, name, f"https://h/{name}") for number, name in enumerate(names)]


EVERYTHING = Choice()
NAMES = ("fixed1", "clean", "left", "broken", "lost", "fixed2")


@pytest.fixture
def migrated(tmp_path):
    """Runs a migration in one folder, and returns engine, tally and lines of the records."""

    def run(names=NAMES, choice=EVERYTHING, work=work):
        engine = InThisProcess()
        state = State(str(tmp_path / "state.log"))
        try:
            tasks = select_tasks(tasks_of(names), choice, str(tmp_path / "scratch"))
            migration = Migration(tasks, choice, state, str(tmp_path / "out"))
            list(migration.run(engine, work, 1))
        finally:
            state.close()
        lines = (tmp_path / "out" / "records.jsonl").read_text().splitlines()
        return engine, migration.tally, lines

    return run


def test_records_are_in_the_order_of_the_plan(migrated, tmp_path):
    _, tally, lines = migrated()

    assert [Record.from_line(line).name for line in lines] == list(NAMES)
    assert [tally.outcomes[word] for word in RepositoryOutcome] == [2, 1, 1, 2]
    assert sorted(path.name for path in (tmp_path / "out" / "patches").iterdir()) == ["fixed1.patch", "fixed2.patch"]
    assert json.loads(lines[0])["published"]["path"] == "patches/fixed1.patch"


def test_two_migrations_do_not_write_to_one_folder(tmp_path):
    out, engine = str(tmp_path / "out"), InThisProcess()
    tasks = select_tasks(tasks_of(NAMES), EVERYTHING, str(tmp_path / "scratch"))
    states = [State(str(tmp_path / name)) for name in ("one.log", "two.log")]
    first, second = (Migration(tasks, EVERYTHING, state, out) for state in states)
    running = first.run(engine, work, 1)
    next(running)

    with pytest.raises(StateError, match=r"out is in use by another devfix migrate: .*choose another --out"):
        list(second.run(engine, work, 1))

    list(running)
    assert len(list(second.run(engine, work, 1))) == len(NAMES), "the folder is free when the first has ended"
    for state in states:
        state.close()


def test_a_second_start_changes_nothing(migrated):
    _, _, first = migrated()

    engine, tally, second = migrated()

    assert first == second
    assert tally.reused == len(NAMES)
    assert "lost" not in engine.given, "what failed without a commit waits for --retry-failed"


def test_what_failed_is_done_again_when_asked(migrated):
    migrated()
    done = []

    _, tally, _ = migrated(choice=Choice(retry_failed=True), work=lambda task: done.append(task) or work(task))

    assert {task.name for task in done if not task.done_commits} == {"broken", "lost"}
    assert tally.reused == 4


def test_everything_is_done_anew_when_asked(migrated):
    migrated()

    _, tally, _ = migrated(choice=Choice(resume=False))

    assert tally.reused == 0


def test_an_interruption_loses_what_was_in_flight_only(migrated, tmp_path):
    def interrupted(task):
        if task.name == "left":
            raise KeyboardInterrupt
        return work(task)

    with pytest.raises(KeyboardInterrupt):
        migrated(work=interrupted)

    _, tally, lines = migrated()
    assert tally.reused == 3  # from the end: fixed2, lost, broken
    undisturbed = [json.loads(line) for line in lines]
    assert [each["outcome"] for each in undisturbed] == ["fixed", "clean", "not-fixed", "failed", "failed", "fixed"]


@pytest.mark.parametrize("name", ["fixed1", "lost"], ids=["the worker is asked", "the worker is not asked"])
def test_a_record_that_cannot_be_read_is_made_again(migrated, monkeypatch, name):
    """Its checksum is right, but it has another version."""
    line = Record.line
    monkeypatch.setattr(
        Record,
        "line",
        lambda self: line(self).replace('"schema_version":2', '"schema_version":1', self.name == name),
    )
    migrated(("fixed1", "clean", "lost"))
    monkeypatch.undo()

    _, tally, lines = migrated(("fixed1", "clean", "lost"))

    assert tally.reused == 2
    assert [Record.from_line(line).outcome.value for line in lines] == ["fixed", "clean", "failed"]


def test_a_patch_of_an_earlier_commit_goes(migrated, tmp_path):
    migrated(("fixed1",))
    migrated(("fixed1",), Choice(resume=False), lambda task: replace(work(task), patch="", commit="cd" * 20))

    assert list((tmp_path / "out" / "patches").iterdir()) == []


def test_a_patch_that_somebody_deleted_comes_back(migrated, tmp_path):
    migrated(("fixed1",))
    (tmp_path / "out" / "patches" / "fixed1.patch").unlink()
    migrated(("fixed1",))

    assert (tmp_path / "out" / "patches" / "fixed1.patch").read_text() == "--- a/fixed1\n"


def test_a_plan_in_another_order_reuses_what_is_there(migrated):
    migrated(("fixed1", "clean"))

    _, tally, lines = migrated(("clean", "fixed1"))

    assert tally.reused == 2
    assert [(each.number, each.name) for each in map(Record.from_line, lines)] == [(0, "clean"), (1, "fixed1")]


def test_a_full_disk_ends_the_run_and_is_not_the_repositorys_fault(migrated, tmp_path):
    def full(task):
        return task.failed("fetch", f"{DISK_FULL} (git fetch: write error)") if task.number == 1 else work(task)

    with pytest.raises(StateError, match="the disk is full"):
        migrated(("fixed1", "clean", "fixed2"), work=full)

    _, tally, _ = migrated(("fixed1", "clean", "fixed2"))
    assert tally.reused == 1


def test_a_server_that_speaks_of_a_full_disk_ends_no_run(migrated):
    def lying(task):
        failed = task.failed("fetch", "git fetch: No space left on device", log="remote: No space left on device")
        return failed if task.number == 1 else work(task)

    _, tally, _ = migrated(("fixed1", "clean", "fixed2"), work=lying)

    assert (tally.done, tally.outcomes[RepositoryOutcome.FAILED]) == (3, 1)


def test_shards_are_disjoint_and_whole():
    tasks = tasks_of([f"r{number}" for number in range(100)])

    parts = [select_tasks(tasks, Choice(shard=(index, 3)), "") for index in (1, 2, 3)]

    assert sorted(task.number for part in parts for task in part) == list(range(100))
    assert all(len(part) > 10 for part in parts)
    assert [task.number for task in parts[0]] == sorted(task.number for task in parts[0])


def test_folders_of_one_repository_are_in_one_shard():
    tasks = [replace(Task(n, f"r{n}", "https://h/r"), folder=str(n)) for n in range(10)]

    assert sorted(len(select_tasks(tasks, Choice(shard=(index, 2)), "")) for index in (1, 2)) == [0, 10]


def test_a_dry_run_makes_patches_only():
    (task,) = select_tasks(
        [Task(0, "a", "https://h/a", publishing=Publishing("push"))], Choice(dry_run=True), "scratch"
    )

    assert task.publishing.kind == "patch"


FIXED, CLEAN, NOT_FIXED, FAILED = RepositoryOutcome


@pytest.mark.parametrize(
    ("outcomes", "codes"),
    [
        ((FIXED, CLEAN), {"none": 0, "any": 0, "all": 0}),
        ((FIXED, FAILED), {"none": 0, "any": 1, "all": 0}),
        ((CLEAN, NOT_FIXED), {"none": 0, "any": 1, "all": 0}),
        ((FAILED, NOT_FIXED), {"none": 0, "any": 1, "all": 1}),
        ((), {"none": 0, "any": 0, "all": 0}),
    ],
)
def test_exit_codes(outcomes, codes):
    tally = Tally(len(outcomes))
    tally.outcomes.update(outcomes)

    assert {level: exit_code(tally, level) for level in codes} == codes


def test_in_a_dry_run_what_would_change_is_not_done():
    tally = Tally(1)
    tally.outcomes.update([FIXED])

    assert exit_code(tally, "any", dry_run=True) == 1
