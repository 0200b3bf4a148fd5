"""The parts of a record's patch, one for each set of owners, and their pull requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from devfix.migrate.changes import Change
from devfix.migrate.record import Published, Record
from devfix.sources.digest import digest
from devfix.vcs import hunks

__all__ = ["part_names", "patch_of", "record_of", "with_published"]

_UNOWNED = "unowned"
_MAX_NAME = 60  # characters


def part_names(owners: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the ends of the branches' names: the owners, and a digest where they would be equal or too long."""
    plain = [re.sub(r"[^A-Za-z0-9_]+", "-", " ".join(each)).strip("-") or _UNOWNED for each in owners]
    counted = Counter(plain)
    return [
        name if counted[name] == 1 and len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}-{digest(*each)[:8]}"
        for name, each in zip(plain, owners, strict=True)
    ]


def patch_of(patch: str, files: Collection[str]) -> str:
    """Return the diffs of some files, as they are in a patch.

    Args:
        patch: a patch of devfix.
        files: paths, as the patch names them.

    """
    diffs = re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE)
    return "".join(diff for diff in diffs if diff and hunks.read(diff)[0].path in files)


def record_of(record: Record, change: Change) -> Record | None:
    """Return the part of a record that a pull request contains; ``None`` if the record no longer has it."""
    if change.owners is None:
        return record if record.patch else None
    part = next((part for part in record.parts if part.name and part.owners == change.owners), None)
    if part is None:
        return None
    findings = tuple(finding for finding in record.findings if _concerns(finding, part.files))
    return replace(record, patch=patch_of(record.patch, part.files), findings=findings, published=part.published)


def with_published(record: Record, change: Change, published: Published) -> Record:
    """Return the record with what was published of it: the patch, or the part of a pull request."""
    if change.owners is None:
        return replace(record, published=published)
    parts = tuple(replace(part, published=published) if part.owners == change.owners else part for part in record.parts)
    return replace(record, parts=parts)


def _concerns(finding: Mapping[str, Any], files: Collection[str]) -> bool:
    """Return whether a finding is fixed in some files; one without a fix belongs to its own file."""
    edited = finding["fix"]["files"] if finding["status"] == "fixed" and finding["fix"] else [finding["path"]]
    return any(path in files for path in edited)
