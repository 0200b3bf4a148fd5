"""What an unprivileged job leaves for a privileged one: a manifest and a patch, read back as data of a stranger.

schema/artifact-2.json documents the manifest.  Nothing in it is run, and no name in it is opened: texts become Markdown
with everything escaped, and the patch is applied to copies of the files that the host says the pull request holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from devfix import __version__
from devfix.bot.analysis import Analysis
from devfix.bot.environment import Surroundings
from devfix.bot.hunk_groups import Part
from devfix.bot.paths import refusal
from devfix.bot.skip_reasons import BotError
from devfix.model import Resolution
from devfix.vcs import hunks
from devfix.vcs.git import Git, GitError
from devfix.vcs.redaction import redacted

__all__ = ["Artifact", "manifest", "patched", "read", "write"]

_MANIFEST, _PATCH = "manifest.json", "devfix.patch"
_LARGEST = {_MANIFEST: 4 << 20, _PATCH: 4 << 20}  # bytes
_MOST_LINES = 50  # of one finding's story
_LIMITS = {"files": 200, "findings": 500, "parts": 500, "problems": 200}


@dataclass(frozen=True)
class Artifact:
    """A manifest that holds to its schema, and its patch."""

    manifest: Mapping[str, Any]
    patch: bytes

    def __getitem__(self, key: str) -> Any:
        return self.manifest[key]

    @property
    def paths(self) -> list[str]:
        """The files that the patch changes."""
        return [file["path"] for file in self.manifest["files"]]

    @property
    def parts(self) -> list[Part]:
        """Which hunks of the patch belong together."""
        return [tuple((each["path"], each["line"]) for each in part) for part in self.manifest["parts"]]


# --- writing --------------------------------------------------------------------------------------------------------
def manifest(analysis: Analysis, around: Surroundings, base: str, head: str, patch: bytes | None = None) -> Artifact:
    """The artifact of an analysis, with its own patch or the one given; ``BotError`` where it is too large."""
    patch = analysis.diff if patch is None else patch
    kept = [item for item in analysis.outcome.resolutions if item.status.value != "suppressed"]
    if len(analysis.files) > _LIMITS["files"]:
        raise BotError(f"the patch changes {len(analysis.files)} files, more than anybody reviews: use devfix apply")
    document = {
        "schema_version": 2,
        "tool": f"devfix {__version__}",
        "repository": around.repository,
        "number": around.number,
        "base": base,
        "head": head,
        "patch": {"sha256": _digest(patch), "size": len(patch)},
        "files": [
            {"path": _slashes(change.path), "before": _digest(change.old), "after": _digest(change.new)}
            for change in analysis.files
        ],
        "parts": [[{"path": path, "line": line} for path, line in part] for part in _told_parts(analysis)],
        "findings": [_finding(item) for item in kept[: _LIMITS["findings"]]],
        "problems": [
            {"path": _slashes(each.path)[:500], "line": each.line, "message": _told(each.message, 1000)}
            for each in analysis.outcome.problems[: _LIMITS["problems"]]
        ],
        "evidence": analysis.evidence,
        "not_verified": _told(analysis.not_verified, 2000),
    }
    _validate(document)
    return Artifact(document, patch)


def write(artifact: Artifact, folder: str) -> None:
    """Write an artifact into a folder, which is made."""
    os.makedirs(folder, exist_ok=True)
    Path(folder, _PATCH).write_bytes(artifact.patch)
    Path(folder, _MANIFEST).write_text(json.dumps(artifact.manifest, indent=1) + "\n", "utf-8")


def _finding(item: Resolution) -> dict[str, Any]:
    finding = item.finding
    fix = item.fix or (finding.fixes[0] if finding.fixes else None)
    return {
        "code": finding.code,
        "name": finding.name,
        "status": item.status.value,
        "applicability": None if fix is None else fix.applicability.value,
        "path": _slashes(finding.path),
        "line": finding.span.line,
        "lines": [{"path": _slashes(each.path), "line": each.line} for each in finding.events[:_MOST_LINES]],
        "message": _told(finding.message, 2000),
        "title": "" if fix is None else _told(fix.title, 1000),
        "reason": _told(item.reason or finding.reason, 2000),
    }


def _told_parts(analysis: Analysis) -> Sequence[Part]:
    """None where there are too many: all hunks belong together then."""
    most = _LIMITS["parts"]
    fits = len(analysis.parts) <= most and all(len(part) <= most for part in analysis.parts)
    return analysis.parts if fits else ()


def _told(text: str, most: int) -> str:
    return _encodable(redacted(text))[:most]


def _encodable(text: str) -> str:
    """Bytes of a name or a text that are no UTF-8, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _slashes(path: str) -> str:
    return _encodable(path.replace(os.sep, "/"))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# --- reading --------------------------------------------------------------------------------------------------------
def read(folder: str) -> Artifact:
    """An artifact that was written by a stranger; raises ``BotError`` where it is not what one must be."""
    document = _json(_content(folder, _MANIFEST))
    _validate(document)
    if not document["number"]:
        raise BotError(f"{_MANIFEST}: it is about no pull request")
    artifact = Artifact(document, _content(folder, _PATCH))
    told = document["patch"]
    if told != {"sha256": _digest(artifact.patch), "size": len(artifact.patch)}:
        raise BotError(f"{_PATCH}: not the patch that {_MANIFEST} speaks of")
    for path in artifact.paths:
        if refused := refusal(path):
            raise BotError(refused)
    _check_patch(artifact)
    return artifact


def _content(folder: str, name: str) -> bytes:
    path = os.path.join(folder, name)
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise BotError(f"{path} is not a regular file")
        if status.st_size > _LARGEST[name]:
            raise BotError(f"{path} has {status.st_size} bytes, and may have {_LARGEST[name]}")
        return Path(path).read_bytes()
    except OSError as error:
        raise BotError(f"{path}: {error.strerror}") from error


def _json(raw: bytes) -> Any:
    try:
        document = json.loads(raw.decode("utf-8"))
        json.dumps(document, ensure_ascii=False).encode("utf-8")  # no half of a character, which cannot be sent
        return document
    except (ValueError, RecursionError) as error:
        raise BotError(f"{_MANIFEST}: not JSON: {error}") from error


def _validate(document: Any) -> None:
    import jsonschema

    schema = json.loads(resources.files("devfix").joinpath("schema/artifact-2.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    error = next(iter(validator.iter_errors(document)), None)
    if error is not None:
        where = "/".join(map(str, error.absolute_path)) or "the document"
        raise BotError(f"{_MANIFEST}: {where}: {error.message[:200]}")


def _check_patch(artifact: Artifact) -> None:
    """The patch changes lines of the files that are named, and does nothing else."""
    files = hunks.read(artifact.patch.decode("utf-8", "surrogateescape"))
    changed = [file.path for file in files]
    if sorted(changed) != sorted(artifact.paths):
        raise BotError(f"{_PATCH}: it changes other files than {_MANIFEST} says")
    for file in files:
        if file.remarks or not file.hunks:
            raise BotError(f"{_PATCH}: {file.path}: it does more than change lines")


def patched(artifact: Artifact, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files after the patch; raises ``BotError`` where the files are not those that it was made for.

    Args:
        artifact: as it was read.
        before: the files of :attr:`Artifact.paths`, as the pull request has them.

    """
    for file in artifact["files"]:
        if _digest(before[file["path"]]) != file["before"]:
            raise BotError(f"{file['path']}: the pull request holds another text than the one that was analysed")
    if not before:
        return {}
    after = _applied(artifact.patch, before)
    for file in artifact["files"]:
        if _digest(after[file["path"]]) != file["after"]:
            raise BotError(f"{file['path']}: the patch makes another text of it than {_MANIFEST} says")
    return after


def _applied(patch: bytes, before: Mapping[str, bytes]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="devfix-bot-") as folder:
        for name, content in before.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        try:
            git = Git(folder)
            git("init", "--quiet")  # else git looks for a repository above
            git("apply", "--whitespace=nowarn", "-", text=os.fsdecode(patch))
        except GitError as error:
            raise BotError(f"{_PATCH} does not apply: {error}") from error
        if _files(folder) != set(before):
            raise BotError(f"{_PATCH}: it makes other files than {_MANIFEST} says")
        return {name: Path(folder, name).read_bytes() for name in before}


def _files(folder: str) -> set[str]:
    """Regular files below a folder that are not git's own, with slashes; other things under a name that none has."""
    paths = [path for path in Path(folder).rglob("*") if path.relative_to(folder).parts[0] != ".git"]
    plain = {path.relative_to(folder).as_posix() for path in paths if path.is_file() and not path.is_symlink()}
    return plain | {f"/{path}" for path in paths if path.is_symlink()}
