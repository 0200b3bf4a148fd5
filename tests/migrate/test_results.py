"""Complete records that workers write to a shared folder."""

from dataclasses import replace

import pytest

from devfix.migrate.record import Record
from devfix.migrate.results import complete, store
from devfix.migrate.task import Publishing
from devfix.migrate.task_entry import migrate

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def results(tmp_path):
    return str(tmp_path / "shared" / "results")


def test_a_worker_writes_the_record_and_returns_a_short_one(task, results, tmp_path):
    short = migrate(replace(task, results=results))

    assert (short.outcome.value, short.findings, short.patch, short.log) == ("fixed", (), "", "")
    files = sorted(path.name.rpartition(".")[2] for path in (tmp_path / "shared" / "results").iterdir())
    assert files == ["json", "patch"]
    whole = complete(replace(short, number=7, name="other"))
    assert (whole.number, whole.name, len(whole.findings)) == (7, "other", 1)
    with open(whole.published.path) as patch:
        assert patch.read() == whole.patch != ""


def test_an_object_store_will_do(task, record):
    short = store(replace(task, results="memory://bucket/run"), record)

    assert short.stored.startswith("memory://bucket/run/lab-project-")
    assert complete(short).findings == record.findings
    assert Record.from_line(short.line()) == short and len(short.line()) < len(record.line()) / 2


def test_the_patch_of_a_pull_request_comes_along(task, record, results):
    task = replace(task, results=results, publishing=Publishing("pull-request"))

    assert store(task, record).patch == record.patch


def test_a_folder_that_cannot_be_written_fails_the_repository(task, record, tmp_path):
    (tmp_path / "file").write_text("")

    failed = store(replace(task, results=str(tmp_path / "file")), record)

    assert (failed.outcome.value, failed.stage) == ("failed", "publish")
    assert f"the record could not be written to {tmp_path}/file" in failed.reason


def test_a_record_that_is_gone_is_told(task, record, results, tmp_path):
    short = store(replace(task, results=results), record)
    for path in (tmp_path / "shared" / "results").iterdir():
        path.unlink()

    assert "cannot be read" in complete(short).notes[0]["message"]
