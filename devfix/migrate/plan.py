"""What is to be done: a plan in TOML, a folder of repositories, or a list of them.  Errors name file and line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from devfix.config import ConfigError
from devfix.migrate.mirrors import slug
from devfix.migrate.plan_keys import Table, defaults, is_ref, publishing, rules, verification
from devfix.migrate.plan_lines import Lines
from devfix.migrate.task import Task
from devfix.sources.digest import digest
from devfix.vcs.redaction import redacted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["read_plan", "repositories_in"]

_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "file")
_SCP = re.compile(r"[\w.~-]+@[\w.-]+:(?!//)\S+")
_REPOSITORY_KEYS = ("url", "path", "ref", "folder", "name")
_DEEP = 4  # folders below the one that is named, in which repositories are looked for


def read_plan(given: str) -> tuple[Task, ...]:
    """The tasks of a plan, a folder or a list, in its order.

    Raises:
        ConfigError: it cannot be read, or something in it is wrong.

    """
    if os.path.isdir(given):
        found = _of_folder(given)
    elif not os.path.exists(given):
        raise ConfigError(f"{given}: no such plan, list or folder")
    else:
        try:
            text = Path(given).read_text("utf-8-sig")
        except OSError as error:
            raise ConfigError(f"{given}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{given}: not UTF-8: {error.reason} at byte {error.start}") from error
        found = _of_toml(given, text) if given.endswith(".toml") else _of_list(given, text)
    if not found:
        raise ConfigError(f"{given}: no repository here")
    return tuple(_numbered(found))


def repositories_in(folder: str) -> Iterator[str]:
    """The git repositories at or below a folder, in order; those within another one are its own affair."""
    if is_repository(folder):
        yield folder
        return
    for current, folders, _ in os.walk(folder):
        here = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(current, name) for name in here if is_repository(os.path.join(current, name)))
        deep = os.path.relpath(current, folder).count(os.sep) + (current != folder) + 1 >= _DEEP
        folders[:] = [] if deep else [name for name in here if not is_repository(os.path.join(current, name))]


def is_repository(folder: str) -> bool:
    """Whether a folder is a checkout or a bare repository."""
    bare = all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))
    return bare or os.path.exists(os.path.join(folder, ".git"))


# --- the three forms ------------------------------------------------------------------------------------------------
def _of_folder(given: str) -> list[Task]:
    return [Task(0, "", os.path.abspath(path), origin=given) for path in repositories_in(given)]


def _of_list(given: str, text: str) -> list[Task]:
    """One repository a line: URL or path, then its ref and its sub-folder, if any; ``#`` begins a remark."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].split()
        where = f"{given}:{number}"
        if len(words) > 3:
            raise ConfigError(f"{where}: more than a repository, its ref and its folder: {redacted(line.strip())}")
        if words:
            source, ref, folder = (*words, "", "")[:3]
            at = os.path.dirname(given)
            found.append(
                Task(0, "", _source(where, source, at), _ref(where, ref), _folder(where, folder), origin=where)
            )
    return found


def _of_toml(given: str, text: str) -> list[Task]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise ConfigError(f"{given}:{line[1] if line else 1}: not valid TOML: {error}") from error
    lines = Lines(text)
    top = Table(given, lines, (), document)
    top.only("defaults", "repository")
    shared = defaults(top)
    listed = document.get("repository", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ConfigError(f"{given}:{lines.of('repository')}: each repository is a table of its own: [[repository]]")
    return [_of_table(Table(given, lines, ("repository", number), each), shared) for number, each in enumerate(listed)]


def _of_table(table: Table, shared: Mapping[str, Any]) -> Task:
    table.only(*_REPOSITORY_KEYS, *Table.SHARED)
    given = [key for key in ("url", "path") if key in table.values]
    if len(given) != 1:
        raise table.error("a repository has a url, or a path on this machine" + (", and not both" if given else ""))
    (key,) = given
    where = table.where(key)
    written = table.text(key)
    if key == "url" and not _is_url(written):
        raise table.error(f"{redacted(written)!r} is no URL that git takes; path = names a folder", key)
    merged = {**shared, **{name: table.values[name] for name in Table.SHARED if name in table.values}}
    ref = _ref(table.where("ref"), table.text("ref"))
    folder = _folder(table.where("folder"), table.text("folder"))
    select, ignore, severity, unsafe = rules(table, merged)
    result = publishing(table, merged, folder)
    if result.kind in ("push", "pull-request") and result.branch == ref:
        raise table.error(f"the branch {ref!r} would be pushed over itself: name another one", "branch", "ref")
    keep = table.flag("keep-mirror", merged.get("keep-mirror", True))
    if result.kind == "branch" and not keep:
        raise table.error("a branch is in the mirror, which is to be deleted: push it, or keep-mirror", "keep-mirror")
    return Task(
        number=0,
        name=slug(table.text("name")) if "name" in table.values else "",
        source=_source(where, written, os.path.dirname(table.file)),
        ref=ref,
        folder=folder,
        select=select,
        ignore=ignore,
        severity=severity,
        unsafe_fixes=unsafe,
        verification=verification(table, shared),
        publishing=result,
        timeout=table.number("timeout", merged.get("timeout", Task.timeout), least=1),
        keep_mirror=keep,
        memory_mb=int(table.number("memory", merged.get("memory", Task.memory_mb), least=256)),
        origin=table.where(),
    )


# --- what a repository is called ------------------------------------------------------------------------------------
def _is_url(text: str) -> bool:
    scheme, colon, _ = text.partition("://")
    return (bool(colon) and scheme.lower() in _SCHEMES) or _SCP.fullmatch(text) is not None


def _source(where: str, written: str, base: str) -> str:
    """A URL as it is, a path as an absolute one; what is to be on this machine must be there."""
    if not written or written.startswith("-") or re.search(r"[\x00-\x1f]", written):
        raise ConfigError(f"{where}: {redacted(written)!r} is neither a URL nor a path")
    if _is_url(written):
        if written.startswith("file://"):
            _look(where, unquote(urlsplit(written).path))
        elif "@" not in written.partition("://")[0] and not re.match(r"[a-z+]+://[^/]+", written, re.I):
            raise ConfigError(f"{where}: {redacted(written)!r} names no server")
        return written
    if "://" in written:
        raise ConfigError(f"{where}: {redacted(written)!r} is no URL of one of: {', '.join(_SCHEMES)}")
    path = os.path.abspath(os.path.join(base, os.path.expanduser(written)))
    _look(where, path)
    return path


def _look(where: str, path: str) -> None:
    if not os.path.isdir(path):
        raise ConfigError(f"{where}: there is no folder {path}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise ConfigError(f"{where}: no permission to read {path}")
    if not is_repository(path):
        raise ConfigError(f"{where}: {path} is no git repository")


def _ref(where: str, ref: str) -> str:
    if ref and not is_ref(ref):
        raise ConfigError(f"{where}: {ref!r} is no name of a branch or tag, and no commit")
    return ref


def _folder(where: str, folder: str) -> str:
    plain = os.path.normpath(folder).replace(os.sep, "/") if folder else ""
    if plain.startswith(("/", "..", "~")):
        raise ConfigError(f"{where}: {folder!r} is not a folder within the repository")
    return "" if plain == "." else plain


def _numbered(tasks: list[Task]) -> Iterator[Task]:
    """The tasks with their numbers, each under a name of its own; raises ``ConfigError`` for two that are the same."""
    known: dict[tuple[str, str, str], Task] = {}
    names: set[str] = set()
    for number, task in enumerate(tasks):
        key = (task.repository.rstrip("/").removesuffix(".git"), task.ref, task.folder)
        first = known.setdefault(key, task)
        if first is not task:
            raise ConfigError(f"{task.origin}: {task.repository} is there already, at {first.origin}")
        name = task.name or _name(task)
        if name in names:
            if task.name:
                raise ConfigError(f"{task.origin}: the name {name!r} is there already")
            name = f"{name}-{digest(*key)[:8]}"
        names.add(name)
        yield replace(task, number=number, name=name)


def _name(task: Task) -> str:
    """The last two parts of the URL, or the last one of a path; and the sub-folder."""
    path = task.repository.rstrip("/").removesuffix("/.git").removesuffix(".git")
    parts = re.split(r"[/:]", path.rpartition("://")[2])
    kept = parts[-1:] if path.startswith("/") else parts[-2:]
    return slug("-".join([*kept, task.folder] if task.folder else kept))
