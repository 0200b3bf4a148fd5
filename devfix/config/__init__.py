"""Settings: ``[tool.devfix]`` in pyproject.toml, overridden by the flags of one run."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from devfix.config._files import ConfigError, inline_table, pyprojects, read_table
from devfix.model import PortTargets, Severity
from devfix.sources import is_within, own_root, repository_root
from devfix.sources.patterns import is_pattern, pattern_spec

if TYPE_CHECKING:
    import pathspec

__all__ = [
    "KEYS",
    "ConfigError",
    "LocalRules",
    "Settings",
    "did_you_mean",
    "find",
    "load",
    "override",
    "resolve_codes",
]

_PREFIX = re.compile(r"[A-Z]{3,10}[0-9]{0,3}")  # of a code: its family, its group, or all of it
_INLINE = "--config"  # where keys on the command line come from, in messages
#: The keys of ``[tool.devfix]``.
KEYS = (
    "bot",
    "device",
    "exclude",
    "extend",
    "ignore",
    "models",
    "per-file-ignores",
    "plugins",
    "select",
    "severity",
    "unsafe-fixes",
)


#: Imports modules of a repository, given their names and the folder of the configuration, and returns the name of each
#: rule by code; ``None`` if the repository is not trusted.
LocalRules = Callable[[Sequence[str], str], "Mapping[str, str] | None"]


@dataclass(frozen=True)
class Settings:
    """The settings of one run; hashable, because they are part of the cache key.

    ``select`` and ``ignore`` hold codes and code prefixes (``DEV101``, ``DEV1``); an empty ``select`` means all.
    ``severity`` is a threshold: ``latent`` includes ``error`` and ``latent``; ``None`` means ``error``.  No
    configuration sets ``starts_no_program``, which says that none of the checked files starts one, nor
    ``includes_doubtful``, with which findings of kinds that are mostly false are reported.  ``device`` is the device
    expression to prefer if the program has none.  ``plugins`` are imported modules under ``root`` that define rules.
    ``models`` are folders of stubs under ``root``.  ``exclude`` and the globs of ``per_file_ignores`` are gitignore
    patterns relative to ``root``.  ``targets`` are those of ``devfix port``.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    severity: Severity | None = None
    starts_no_program: bool = False
    includes_doubtful: bool = False
    device: str | None = None
    unsafe_fixes: bool = False
    plugins: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    targets: PortTargets = field(default_factory=PortTargets)
    root: str = "."

    def enabled(self, code: str, path: str) -> bool:
        """Return whether a rule applies to a file; the more specific of select and ignore wins."""
        selected = _specificity(self.select, code) if self.select else 0
        if selected < 0 or (self.ignore and _specificity(self.ignore, code) >= selected):
            return False
        return not any(
            _specificity(codes, code) >= 0 and _matches(glob, self.root, path) for glob, codes in self.per_file_ignores
        )

    def asks_for(self, code: str) -> bool:
        """Return whether a rule is selected by its own code or its family; ``all`` does not count."""
        return any(code.startswith(prefix) and not prefix.isalpha() for prefix in self.select)

    @property
    def assumes_callers(self) -> bool:
        """Return whether errors are reported that are latent only because no program calls the function."""
        return self.starts_no_program and self.severity is None

    def reports(self, severity: Severity) -> bool:
        """Return whether findings of this severity are reported."""
        return severity.rank <= (self.severity or Severity.ERROR).rank


def find(paths: Sequence[str], config_file: str | None = None, isolated: bool = False) -> str | None:
    """Return the file that configures ``paths``, as :func:`load` selects it; ``None`` if there is none.

    Raises :class:`ConfigError`.
    """
    if isolated or config_file is not None:
        return None if isolated else config_file
    for candidate in pyprojects(_common_folder(paths)):
        if not is_within(os.path.realpath(candidate), own_root(os.path.dirname(candidate))):
            raise ConfigError(f"{candidate}: is a link to a file outside of the project: name that file with --config")
        if read_table(candidate) is not None:
            return candidate
    return None


def load(
    paths: Sequence[str],
    known: Mapping[str, str],
    config_file: str | None = None,
    isolated: bool = False,
    local: LocalRules | None = None,
    inline: Sequence[str] = (),
) -> Settings:
    """Load the settings for ``paths``: from ``config_file``, else the nearest pyproject.toml with ``[tool.devfix]``.

    ``known`` maps the code of every rule to its name.  ``local`` imports the modules in ``plugins``; without it, they
    are not imported.  ``inline`` are lines of TOML, which take precedence.  Raises :class:`ConfigError`.
    """
    path = find(paths, config_file, isolated)
    settings = Settings(root=repository_root(_common_folder(paths)))
    if path is not None:
        settings = _from_file(path, known, local)
    table = inline_table(inline)
    for key in ("bot", "extend"):
        if key in table:
            raise ConfigError(f"{_INLINE}: tool.devfix.{key} must be in a file")
    return _with_keys(settings, _settings(_INLINE, settings.root, table, known, local), table)


def override(
    settings: Settings,
    known: Mapping[str, str],
    *,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    severity: Severity | None = None,
    unsafe_fixes: bool = False,
    targets: PortTargets | None = None,
) -> Settings:
    """Return ``settings`` with the flags of one run.

    ``select`` replaces the configured ``select`` and ``ignore``; ``extend_select`` and ``ignore`` are added to the
    configured ones.  ``exclude`` are patterns relative to the current folder, in addition to the configured ones.
    Raises :class:`ConfigError` for an unknown code or an invalid pattern.
    """
    if select:
        settings = replace(settings, select=resolve_codes(select, known, "--select"), ignore=())
    if extend_select:
        added = resolve_codes(extend_select, known, "--extend-select")
        before = settings.select or resolve_codes(["all"], known, "--extend-select")
        ignored = tuple(code for code in settings.ignore if code not in added)
        settings = replace(settings, select=(*before, *added), ignore=ignored)
    if ignore:
        settings = replace(settings, ignore=settings.ignore + resolve_codes(ignore, known, "--ignore"))
    if exclude:
        settings = replace(settings, exclude=(*settings.exclude, *_from_here(exclude, settings.root)))
    if severity is not None:
        settings = replace(settings, severity=severity)
    if targets is not None:
        settings = replace(settings, targets=targets)
    return replace(settings, unsafe_fixes=settings.unsafe_fixes or unsafe_fixes)


def _from_here(patterns: Sequence[str], root: str) -> Iterator[str]:
    """Yield patterns relative to the current folder as patterns relative to ``root``."""
    here = os.path.relpath(os.getcwd(), os.path.abspath(root)).replace(os.sep, "/")
    for pattern in patterns:
        if not is_pattern(pattern):
            raise ConfigError(f"--exclude: {pattern!r} is not a gitignore pattern")
        name = pattern.removeprefix("./")
        is_anchored = name != pattern or "/" in name.rstrip("/")
        inside = "" if here == "." else f"/{here}"
        yield f"{inside}/{name.lstrip('/')}" if is_anchored else name


def resolve_codes(given: Iterable[str], known: Mapping[str, str], origin: str) -> tuple[str, ...]:
    """Return codes for codes, code prefixes and rule names; ``all`` is every code.

    ``origin`` names the flag or the file and key in the message.  Raises :class:`ConfigError` for an unknown one.
    """
    by_name = {name: code for code, name in known.items()}
    resolved = []
    for item in given:
        text = item.strip()
        if text.lower() == "all":
            resolved += sorted({"DEV", *(code.rstrip("0123456789") for code in known)})
            continue
        code = by_name.get(text.lower(), text.upper())
        if not isinstance(known, _Unjudged) and not _is_prefix(code, known):
            options = [*known, *by_name]
            hint = did_you_mean(text.upper(), options) or did_you_mean(text.lower(), options)
            raise ConfigError(f"{origin}: unknown rule {text!r}{hint or '; see: devfix rules'}")
        resolved.append(code)
    return tuple(resolved)


class _Unjudged(dict[str, str]):
    """Codes and names without those of local modules, which are not imported: an unknown code may be one of theirs."""


def _is_prefix(code: str, known: Mapping[str, str]) -> bool:
    """Return whether a word is a code or a prefix of one: ``DEV``, ``DEV1``, ``DEV101``."""
    if re.fullmatch("DEV[1-9]?", code):
        return True
    return bool(_PREFIX.fullmatch(code)) and any(each.startswith(code) for each in known)


def _specificity(prefixes: Iterable[str], code: str) -> int:
    """Return the length of the longest prefix of ``code`` among ``prefixes``; -1 if there is none."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


@lru_cache(maxsize=256)
def _spec(glob: str) -> pathspec.GitIgnoreSpec:
    return pattern_spec([glob])


@lru_cache(maxsize=4096)
def _matches(glob: str, root: str, path: str) -> bool:
    relative = os.path.relpath(os.path.abspath(path), os.path.abspath(root)).replace(os.sep, "/")
    return not relative.startswith("../") and _spec(glob).match_file(relative)


def _common_folder(paths: Sequence[str]) -> str:
    folders = [
        os.path.abspath(path) if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)) for path in paths
    ]
    try:
        return os.path.commonpath(folders)
    except ValueError:  # no path, or paths on several Windows drives
        return os.getcwd()


def _from_file(path: str, known: Mapping[str, str], local: LocalRules | None, seen: Sequence[str] = ()) -> Settings:
    """Return the settings of a file, and of the file that it extends; ``seen`` are the files that extend this one."""
    table = read_table(path) or {}
    root = os.path.dirname(os.path.abspath(path))
    settings = _settings(path, root, table, known, local)
    if "extend" not in table:
        return settings
    name = _typed(path, table, "extend", str, "")
    extended = os.path.join(root, name)
    seen = (*seen, os.path.realpath(path))
    if os.path.realpath(extended) in seen:
        raise ConfigError(f"{path}: tool.devfix.extend: {name!r} extends this file")
    if not is_within(os.path.realpath(extended), own_root(root)):
        raise ConfigError(f"{path}: tool.devfix.extend: {name!r} is outside of the project: name it with --config")
    if not os.path.isfile(extended):
        raise ConfigError(f"{path}: tool.devfix.extend: there is no file {name!r} beside this one")
    base = _from_file(extended, known, local, seen)
    if base.plugins and base.root != root:
        raise ConfigError(f"{extended}: tool.devfix.plugins must be in {path}, which extends this file")
    models = tuple(os.path.relpath(os.path.join(base.root, folder), root) for folder in base.models)
    return _with_keys(replace(base, models=models, root=root), settings, table)


def _with_keys(base: Settings, settings: Settings, table: Iterable[str]) -> Settings:
    """Return ``base`` with the values of ``settings`` for the keys of a table."""
    names = (key.replace("-", "_") for key in table if key not in ("bot", "extend"))
    return replace(base, **{name: getattr(settings, name) for name in names})


def _settings(
    path: str,
    root: str,
    table: Mapping[str, Any],
    known: Mapping[str, str],
    local: LocalRules | None,
) -> Settings:
    for key in table:
        if key not in KEYS:
            raise ConfigError(f"{path}: unknown key tool.devfix.{key}{did_you_mean(key, KEYS)}")
    plugins = _strings(path, table, "plugins")
    if plugins:
        imported = local(plugins, root) if local is not None else None
        known, plugins = (_Unjudged(known), ()) if imported is None else (imported, plugins)
    per_file = _typed(path, table, "per-file-ignores", dict, {})
    _patterns(path, "per-file-ignores", per_file)
    return Settings(
        select=_codes(path, table, "select", known),
        ignore=_codes(path, table, "ignore", known),
        per_file_ignores=tuple((glob, _codes(path, per_file, glob, known, "per-file-ignores.")) for glob in per_file),
        exclude=_patterns(path, "exclude", _strings(path, table, "exclude")),
        severity=_severity(path, table),
        device=_device(path, table),
        unsafe_fixes=_typed(path, table, "unsafe-fixes", bool, False),
        plugins=plugins,
        models=_folders(path, table, "models", root),
        root=root,
    )


def _typed(path: str, table: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = table.get(key, default)
    if not isinstance(value, kind):
        names = {dict: "a table", bool: "true or false", str: "a string"}
        raise ConfigError(f"{path}: tool.devfix.{key} must be {names[kind]}, not {value!r}")
    return value


def _strings(path: str, table: Mapping[str, Any], key: str, parent: str = "") -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{path}: tool.devfix.{parent}{key} must be a list of strings, not {value!r}")
    return tuple(value)


def _patterns(path: str, key: str, given: Iterable[str]) -> tuple[str, ...]:
    for pattern in given:
        if not is_pattern(pattern):
            raise ConfigError(f"{path}: tool.devfix.{key}: {pattern!r} is not a gitignore pattern")
    return tuple(given)


def _folders(path: str, table: Mapping[str, Any], key: str, root: str) -> tuple[str, ...]:
    found = _strings(path, table, key)
    project = own_root(root)
    for folder in found:
        if not os.path.isdir(os.path.join(root, folder)):
            raise ConfigError(f"{path}: tool.devfix.{key}: there is no folder {folder!r} beside the file")
        if not is_within(os.path.realpath(os.path.join(root, folder)), project):
            raise ConfigError(f"{path}: tool.devfix.{key}: {folder!r} is outside of the project")
    return found


def _codes(
    path: str, table: Mapping[str, Any], key: str, known: Mapping[str, str], parent: str = ""
) -> tuple[str, ...]:
    return resolve_codes(_strings(path, table, key, parent), known, f"{path}: tool.devfix.{parent}{key}")


def _severity(path: str, table: Mapping[str, Any]) -> Severity | None:
    if "severity" not in table:
        return None
    value = _typed(path, table, "severity", str, "")
    try:
        return Severity(value)
    except ValueError:
        choices = ", ".join(severity.value for severity in Severity)
        raise ConfigError(f"{path}: tool.devfix.severity must be one of {choices}, not {value!r}") from None


def _device(path: str, table: Mapping[str, Any]) -> str | None:
    """Return the preferred device expression, which must be one Python expression."""
    if "device" not in table:
        return None
    value: str = _typed(path, table, "device", str, "")
    try:
        compile(value.strip(), "<device>", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        example = "device = \"torch.device('cuda')\""
        raise ConfigError(
            f"{path}: tool.devfix.device must be an expression such as {example}, not {value!r}"
        ) from None
    return value.strip()


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return "; did you mean …?" for the most similar option; empty if none is similar to ``word``."""
    close = difflib.get_close_matches(word, list(options), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
