"""Reading of migration plans: a TOML file, a folder of repositories, or a list.  Errors name file and line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from devfix.config import ConfigError
from devfix.migrate.local_repositories import repositories_in
from devfix.migrate.mirrors import slug
from devfix.migrate.plan_keys import Table, defaults, is_ref, publishing, rules, verification
from devfix.migrate.plan_lines import Lines
from devfix.migrate.task import DEFAULT_MAX_FETCH_MB, DEFAULT_MEMORY_MB, DEFAULT_TIMEOUT_S, Task
from devfix.sources.digest import digest
from devfix.vcs.codeowners import Dialect
from devfix.vcs.hosts import NoAddress, UnknownHost, host_of
from devfix.vcs.redaction import redacted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["plan_of", "read_plan"]

_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "file")
_SCP = re.compile(r"[\w.~-]+@[\w.-]+:(?!//)\S+")
_REPOSITORY_KEYS = ("url", "path", "ref", "folder", "name")


def read_plan(given: str) -> tuple[Task, ...]:
    """Return the tasks of a plan, in its order.

    Args:
        given: the path of a TOML plan, a list, or a folder of repositories.

    Raises:
        ConfigError: the plan cannot be read, or an entry is invalid.

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
    return tuple(_number(found))


def plan_of(sources: Iterable[str], origin: str) -> tuple[Task, ...]:
    """Return the tasks of some URLs.

    Args:
        sources: the URLs.
        origin: where they come from, for errors.

    Raises:
        ConfigError: there is none, or one is not a URL or a duplicate.

    """
    found = _of_list(origin, "\n".join(sources))
    if not found:
        raise ConfigError(f"{origin}: no repository here passes the filters")
    return tuple(_number(found))


# --- the three forms ------------------------------------------------------------------------------------------------
def _of_folder(given: str) -> list[Task]:
    return [Task(0, "", os.path.abspath(path), plan_location=given) for path in repositories_in(given)]


def _of_list(given: str, text: str) -> list[Task]:
    """Return the tasks of a list: per line, a URL or path, an optional ref and sub-folder; ``#`` begins a comment."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].split()
        where = f"{given}:{number}"
        if len(words) > 3:
            raise ConfigError(f"{where}: expected a repository, its ref and its folder, not: {redacted(line.strip())}")
        if words:
            source, ref, folder = (*words, "", "")[:3]
            at = os.path.dirname(given)
            found.append(
                Task(0, "", _source(where, source, at), _ref(where, ref), _folder(where, folder), plan_location=where)
            )
    return found


def _of_toml(given: str, text: str) -> list[Task]:
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{given}: too deeply nested") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise ConfigError(f"{given}:{line[1] if line else 1}: not valid TOML: {error}") from error
    except ValueError as error:  # a number with thousands of digits
        raise ConfigError(f"{given}: not valid TOML: {error}") from error
    lines = Lines(text)
    top = Table(given, lines, (), document)
    top.allow_only("defaults", "repository")
    shared = defaults(top)
    listed = document.get("repository", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ConfigError(f"{given}:{lines.line_of('repository')}: each repository must be a table: [[repository]]")
    return [_of_table(Table(given, lines, ("repository", number), each), shared) for number, each in enumerate(listed)]


def _of_table(table: Table, shared: Mapping[str, Any]) -> Task:
    table.allow_only(*_REPOSITORY_KEYS, *Table.SHARED)
    given = [key for key in ("url", "path") if key in table.values]
    if len(given) != 1:
        raise table.error("a repository needs a url or a local path" + (", not both" if given else ""))
    (key,) = given
    where = table.location(key)
    value = table.text(key)
    if key == "url" and not _is_url(value):
        raise table.error(f"{redacted(value)!r} is not a URL that git accepts; use path = for a folder", key)
    merged = {**shared, **{name: table.values[name] for name in Table.SHARED if name in table.values}}
    ref = _ref(table.location("ref"), table.text("ref"))
    folder = _folder(table.location("folder"), table.text("folder"))
    select, ignore, severity, unsafe = rules(table, merged)
    result = publishing(table, merged, ref, folder)
    if result.kind in ("push", "pull-request") and result.branch == ref:
        raise table.error(f"the branch {ref!r} would be overwritten: choose another one", "branch", "ref")
    if result.fork != "never" and result.kind == "push":
        raise table.error('a fork needs a pull request: set result = "pull-request"', "fork", "result")
    if table.text("fork-owner") and result.fork == "never":
        raise table.error('fork-owner has no effect: set fork = "auto" or "always"', "fork-owner", "fork")
    if result.split and result.kind == "patch":
        raise table.error('split needs branches: set result = "branch", "push" or "pull-request"', "split", "result")
    keep = table.flag("keep-mirror", merged.get("keep-mirror", True))
    if result.kind == "branch" and not keep:
        raise table.error("the branch would be deleted with its mirror: push it, or set keep-mirror", "keep-mirror")
    source = _source(where, value, os.path.dirname(table.file))
    if result.split or result.owner_reviews:
        result = replace(result, dialect=_dialect(source))
    return Task(
        number=0,
        name=slug(table.text("name")) if "name" in table.values else "",
        source=source,
        ref=ref,
        folder=folder,
        select=select,
        ignore=ignore,
        severity=severity,
        unsafe_fixes=unsafe,
        verification=verification(table, shared),
        publishing=result,
        timeout=table.number("timeout", merged.get("timeout", DEFAULT_TIMEOUT_S), least=1),
        keep_mirror=keep,
        max_fetch_mb=int(table.number("max-fetch", merged.get("max-fetch", DEFAULT_MAX_FETCH_MB), least=1)),
        memory_mb=int(table.number("memory", merged.get("memory", DEFAULT_MEMORY_MB), least=256)),
        plan_location=table.location(),
    )


# --- what a repository is called ------------------------------------------------------------------------------------
def _is_url(text: str) -> bool:
    scheme, colon, _ = text.partition("://")
    return (bool(colon) and scheme.lower() in _SCHEMES) or _SCP.fullmatch(text) is not None


def _dialect(source: str) -> Dialect | None:
    """Return the forge of a source; ``None`` for a path, and a host that devfix does not know."""
    try:
        return host_of(source, os.environ).kind
    except (NoAddress, UnknownHost):
        return None


def _source(where: str, value: str, base: str) -> str:
    """Return a URL unchanged, and a path as an absolute one."""
    if not value or value.startswith("-") or re.search(r"[\x00-\x1f]", value):
        raise ConfigError(f"{where}: {redacted(value)!r} is neither a URL nor a path")
    if _is_url(value):
        if "@" not in value.partition("://")[0] and not re.match(r"file://|[a-z+]+://[^/]+", value, re.I):
            raise ConfigError(f"{where}: {redacted(value)!r} has no host name")
        return value
    if "://" in value:
        raise ConfigError(f"{where}: {redacted(value)!r} must have one of the schemes: {', '.join(_SCHEMES)}")
    return os.path.abspath(os.path.join(base, os.path.expanduser(value)))


def _ref(where: str, ref: str) -> str:
    if ref and not is_ref(ref):
        raise ConfigError(f"{where}: {ref!r} is not a valid branch, tag or commit")
    return ref


def _folder(where: str, folder: str) -> str:
    plain = os.path.normpath(folder).replace(os.sep, "/") if folder else ""
    if plain.startswith(("/", "..", "~")):
        raise ConfigError(f"{where}: {folder!r} is not a folder within the repository")
    return "" if plain == "." else plain


def _number(tasks: list[Task]) -> Iterator[Task]:
    """Yield the tasks with numbers and unique names; raise ``ConfigError`` for duplicates."""
    seen: dict[tuple[str, str, str], Task] = {}
    names: set[str] = set()
    branches: dict[tuple[str, str], Task] = {}
    for number, task in enumerate(tasks):
        key = (task.repository.rstrip("/").removesuffix(".git"), task.ref, task.folder)
        first = seen.setdefault(key, task)
        if first is not task:
            raise ConfigError(f"{task.plan_location}: {task.repository} is a duplicate of {first.plan_location}")
        name = task.name or _name(task)
        if name in names:
            if task.name:
                raise ConfigError(f"{task.plan_location}: the name {name!r} is a duplicate")
            name = f"{name}-{digest(*key)[:8]}"
        names.add(name)
        if task.publishing.kind != "patch":
            _claim_branch(task, branches)
        yield replace(task, number=number, name=name)


def _claim_branch(task: Task, branches: dict[tuple[str, str], Task]) -> None:
    """Raise ``ConfigError`` if an earlier entry publishes to the same branch of the same repository."""
    branch = task.publishing.branch
    first = branches.setdefault((_identity(task), branch), task)
    if first is not task:
        raise ConfigError(
            f"{task.plan_location}: the branch {branch!r} of {task.repository} belongs to {first.plan_location}: "
            "set branch for one of them"
        )


def _identity(task: Task) -> str:
    """Return the repository without the parts of a URL in which two spellings of it differ."""
    source = task.repository.rstrip("/").removesuffix(".git")
    if (short := _SCP.fullmatch(source)) is not None:
        host, _, path = short[0].rpartition("@")[2].partition(":")
        return f"{host.lower()}/{path.lstrip('/')}"
    if "://" not in source or source.startswith("file://"):
        return unquote(source.removeprefix("file://"))
    parts = urlsplit(source)
    return f"{(parts.hostname or '').lower()}/{parts.path.lstrip('/')}"


def _name(task: Task) -> str:
    """Return the last two parts of a URL or the last part of a path, and the sub-folder."""
    path = task.repository.rstrip("/").removesuffix("/.git").removesuffix(".git")
    parts = re.split(r"[/:]", path.rpartition("://")[2])
    last_parts = parts[-1:] if path.startswith("/") else parts[-2:]
    return slug("-".join([*last_parts, task.folder] if task.folder else last_parts))
