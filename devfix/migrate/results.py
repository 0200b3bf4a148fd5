"""Complete records in a shared folder or an object store, written by the workers.

With ``--results URL``, the main machine gets a short record of each repository, whatever the size of its patch, its
findings and its losses.  URLs are those of fsspec (https://filesystem-spec.readthedocs.io): a folder, ``s3://…``,
``gs://…``, ``abfs://…``.
"""

from __future__ import annotations

from dataclasses import replace

from devfix.migrate.record import Published, Record, RecordError
from devfix.migrate.task import Task

__all__ = ["complete", "store"]


def store(task: Task, record: Record) -> Record:
    """Write a record and its patch to ``task.results``; return the short record.

    The patch of a pull request stays in the short record, because the main machine pushes it.  If a file cannot be
    written, the returned record has failed.
    """
    version = record.commit[:12] or "none"
    base = f"{task.results.rstrip('/')}/{record.name}-{task.settings_key[:8]}-{version}"
    try:
        if record.patch:
            _write(f"{base}.patch", record.patch.encode("utf-8", "surrogateescape"))
            record = replace(record, published=replace(record.published or Published("patch"), path=f"{base}.patch"))
        _write(f"{base}.json", record.line().encode("ascii") + b"\n")
    except Exception as error:  # each kind of storage has its own
        reason = f"the record could not be written to {task.results}: {type(error).__name__}: {error}"
        return task.failed("publish", reason, commit=record.commit, seconds=record.seconds)
    patch = record.patch if task.publishing.kind == "pull-request" else ""
    short = replace(record, findings=(), problems=(), notes=(), verdict=None, log="", patch=patch)
    return replace(short, stored=f"{base}.json")


def complete(record: Record) -> Record:
    """Return the complete record of a short one, with its number, name and pull requests.

    If it cannot be read, the short one is returned with a note.
    """
    if not record.stored:
        return record
    try:
        import fsspec

        with fsspec.open(record.stored, "rb") as file:
            found = Record.from_line(file.read().decode("ascii"))
    except (ImportError, OSError, RecordError, ValueError) as error:
        note = {"path": record.stored, "line": None, "message": f"cannot be read: {error}", "hint": None}
        return replace(record, notes=(note,))
    published = record.published if record.published is not None and record.published.url else found.published
    return replace(found, number=record.number, name=record.name, published=published, parts=record.parts)


def _write(url: str, content: bytes) -> None:
    """Write a file that other machines see complete or not at all."""
    import fsspec

    filesystem, path = fsspec.core.url_to_fs(url)
    filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
    with filesystem.transaction, filesystem.open(path, "wb") as file:
        file.write(content)
