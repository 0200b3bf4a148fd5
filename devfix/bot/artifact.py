"""The artifact that an unprivileged CI job passes to a privileged one: a manifest and a patch.

schema/artifact-2.json documents the manifest.  The artifact is untrusted input: nothing in it is executed, no path in
it is opened, its texts are escaped as Markdown, and the patch is applied to copies of the files that the forge's API
returns for the pull request.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from devfix import __version__
from devfix.bot import patch as patches
from devfix.bot.analysis import Analysis
from devfix.bot.environment import CIEnvironment
from devfix.bot.hunk_groups import HunkGroup
from devfix.bot.paths import refusal
from devfix.bot.skip_reasons import BotError
from devfix.model import Resolution
from devfix.vcs import hunks
from devfix.vcs.redaction import redacted

__all__ = ["Artifact", "apply_patch", "build_artifact", "read", "read_digest", "write"]

_MANIFEST, _PATCH = "manifest.json", "devfix.patch"
_MAX_BYTES = {_MANIFEST: 4 << 20, _PATCH: 4 << 20}
_MAX_EVENTS = 50  # of one finding
_LIMITS = {"files": 200, "findings": 500, "parts": 20, "problems": 200}


@dataclass(frozen=True)
class Artifact:
    """A manifest that is valid under its schema, and its patch."""

    manifest: Mapping[str, Any]
    patch: bytes

    def __getitem__(self, key: str) -> Any:
        return self.manifest[key]

    @property
    def paths(self) -> list[str]:
        """The files that the patch changes."""
        return [file["path"] for file in self.manifest["files"]]

    @property
    def hunk_groups(self) -> list[HunkGroup]:
        """Hunks of the patch that must be applied together."""
        return [tuple((each["path"], each["line"]) for each in group) for group in self.manifest["parts"]]


# --- writing --------------------------------------------------------------------------------------------------------
def build_artifact(
    analysis: Analysis, environment: CIEnvironment, base: str, head: str, patch: bytes | None = None
) -> Artifact:
    """Build the artifact of an analysis.

    Args:
        analysis: findings, patch and verdict.
        environment: repository and pull request.
        base: the base commit.
        head: the analysed commit.
        patch: the patch; the analysis' own by default.

    Raises:
        BotError: the patch or the manifest is too large.

    """
    patch = analysis.diff if patch is None else patch
    reported = [item for item in analysis.outcome.resolutions if item.status.value != "suppressed"]
    if len(analysis.files) > _LIMITS["files"]:
        raise BotError(
            f"the patch changes {len(analysis.files)} files, which is more than a review can show: run devfix apply"
        )
    document = {
        "schema_version": 2,
        "tool": f"devfix {__version__}",
        "repository": environment.repository,
        "number": environment.number,
        "base": base,
        "head": head,
        "patch": {"sha256": _sha256(patch), "size": len(patch)},
        "files": [
            {"path": _posix_path(change.path), "before": _sha256(change.old), "after": _sha256(change.new)}
            for change in analysis.files
        ],
        "parts": [[{"path": path, "line": line} for path, line in group] for group in _encodable_groups(analysis)],
        "findings": [_finding(item) for item in reported[: _LIMITS["findings"]]],
        "problems": [
            {"path": _posix_path(each.path)[:500], "line": each.line, "message": _clip(each.message, 1000)}
            for each in analysis.outcome.problems[: _LIMITS["problems"]]
        ],
        "evidence": analysis.evidence,
        "not_verified": _clip(analysis.not_verified, 2000),
    }
    _validate(document)
    return Artifact(document, patch)


def write(artifact: Artifact, folder: str) -> None:
    """Write an artifact to a folder, which is created.

    The folder may be in the checkout of a stranger, so its links are not followed.

    Raises:
        BotError: the folder is a link, or cannot be written.

    """
    if os.path.islink(folder):
        raise BotError(f"{folder} is a link: delete it, or choose another --artifact")
    manifest = json.dumps(artifact.manifest, indent=1) + "\n"
    try:
        os.makedirs(folder, exist_ok=True)
        for name, content in ((_PATCH, artifact.patch), (_MANIFEST, manifest.encode())):
            path = Path(folder, name)
            path.unlink(missing_ok=True)
            with open(path, "xb") as file:
                file.write(content)
    except OSError as error:
        raise BotError(f"{error.filename or folder}: {error.strerror}") from error


def read_digest(folder: str) -> str:
    """Return the SHA-256 of the manifest in a folder, which holds that of the patch."""
    return _sha256(_read_limited(folder, _MANIFEST))


def _finding(item: Resolution) -> dict[str, Any]:
    finding = item.finding
    fix = item.fix or (finding.fixes[0] if finding.fixes else None)
    return {
        "code": finding.code,
        "name": finding.name,
        "status": item.status.value,
        "applicability": None if fix is None else fix.applicability.value,
        "path": _posix_path(finding.path),
        "line": finding.span.line,
        "lines": [{"path": _posix_path(each.path), "line": each.line} for each in finding.events[:_MAX_EVENTS]],
        "message": _clip(finding.message, 2000),
        "title": "" if fix is None else _clip(fix.title, 1000),
        "reason": _clip(item.reason or finding.reason, 2000),
    }


def _encodable_groups(analysis: Analysis) -> Sequence[HunkGroup]:
    """Return the hunk groups; none if there are too many, so that all hunks form one group."""
    groups = analysis.hunk_groups
    return groups if len(groups) <= _LIMITS["parts"] else ()


def _clip(text: str, limit: int) -> str:
    return _encodable(redacted(text[: 10 * limit]))[:limit]


def _encodable(text: str) -> str:
    """Replace bytes that are not UTF-8 with escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _posix_path(path: str) -> str:
    return _encodable(path.replace(os.sep, "/"))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# --- reading --------------------------------------------------------------------------------------------------------
def read(folder: str, digest: str | None = None) -> Artifact:
    """Read an untrusted artifact.

    Args:
        folder: the folder of the artifact.
        digest: the SHA-256 that the manifest must have; ``None`` for any.

    Raises:
        BotError: it is invalid, too large, another one, or changes files that the bot must not change.

    """
    raw = _read_limited(folder, _MANIFEST)
    if digest is not None and _sha256(raw) != digest:
        raise BotError(f"{folder} is not the artifact that devfix bot recompute wrote: its digest is another one")
    document = _parse_json(raw)
    _validate(document)
    artifact = Artifact(document, _read_limited(folder, _PATCH))
    expected = document["patch"]
    if expected != {"sha256": _sha256(artifact.patch), "size": len(artifact.patch)}:
        raise BotError(f"{_PATCH}: size or SHA-256 differs from {_MANIFEST}")
    for path in artifact.paths:
        if refused := refusal(path):
            raise BotError(refused)
    _check_patch(artifact)
    return artifact


def _read_limited(folder: str, name: str) -> bytes:
    path = os.path.join(folder, name)
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise BotError(f"{path} is not a regular file")
        if status.st_size > _MAX_BYTES[name]:
            raise BotError(f"{path} has {status.st_size} bytes; the limit is {_MAX_BYTES[name]}")
        return Path(path).read_bytes()
    except OSError as error:
        raise BotError(f"{path}: {error.strerror}") from error


def _parse_json(raw: bytes) -> Any:
    try:
        document = json.loads(raw.decode("utf-8"))
        json.dumps(document, ensure_ascii=False).encode("utf-8")  # lone surrogates cannot be sent
        return document
    except (ValueError, RecursionError) as error:
        raise BotError(f"{_MANIFEST}: not JSON: {error}") from error


def _validate(document: Any) -> None:
    import jsonschema

    schema = json.loads(resources.files("devfix").joinpath("schema/artifact-2.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    error = next(iter(validator.iter_errors(document)), None)
    if error is not None:
        location = "/".join(map(str, error.absolute_path)) or "the document"
        raise BotError(f"{_MANIFEST}: {location}: {error.message[:200]}")


def _check_patch(artifact: Artifact) -> None:
    """Raise ``BotError`` unless the patch changes only lines, and only in the listed files."""
    files = hunks.read(artifact.patch.decode("utf-8", "surrogateescape"))
    changed = [file.path for file in files]
    if sorted(changed) != sorted(artifact.paths):
        raise BotError(f"{_PATCH}: its files differ from those in {_MANIFEST}")
    for file in files:
        if file.other_lines or not file.hunks:
            raise BotError(f"{_PATCH}: {file.path}: only changes of lines are allowed")


def apply_patch(artifact: Artifact, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files after the patch.

    Args:
        artifact: a validated artifact.
        before: the contents of :attr:`Artifact.paths` in the pull request.

    Raises:
        BotError: the contents differ from the analysed ones, or the patch does not apply.

    """
    for file in artifact["files"]:
        if _sha256(before[file["path"]]) != file["before"]:
            raise BotError(f"{file['path']}: the file in the pull request differs from the analysed one")
    if not before:
        return {}
    after = patches.apply(artifact.patch, before)
    for file in artifact["files"]:
        if _sha256(after[file["path"]]) != file["after"]:
            raise BotError(f"{file['path']}: the patched file differs from {_MANIFEST}")
    return after
