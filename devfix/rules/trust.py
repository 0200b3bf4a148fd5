"""Trust in local plugins: they are code of the analysed repository, so they run only if a person trusts it.

A person trusts a repository for one run (``--trust-plugins``) or in the user's own configuration, which no repository
can change: ``trust-plugins = ["~/src/nets"]`` in the file that :func:`user_configuration` names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from devfix.config import ConfigError
from devfix.rules import plugins
from devfix.site import page_url
from devfix.sources import git_root

__all__ = ["import_trusted", "leave_out", "user_configuration"]

_KEY = "trust-plugins"
_told: set[str] = set()  # each notice is printed once


def user_configuration() -> str:
    """Return the path of the user's configuration: in ``DEVFIX_CONFIG_DIR``, else the platform's folder."""
    import platformdirs

    folder = os.environ.get("DEVFIX_CONFIG_DIR") or platformdirs.user_config_dir("devfix", appauthor=False)
    return os.path.join(folder, "config.toml")


def import_trusted(names: Sequence[str], root: str, trust: bool = False) -> Mapping[str, str] | None:
    """Import the plugins of a trusted repository; otherwise print that they were not loaded.

    Args:
        names: the modules that a configuration names.
        root: the folder of that configuration.
        trust: whether this run trusts every repository.

    Returns:
        The name of each rule by code; ``None`` if the repository is not trusted.

    Raises:
        ConfigError: a module cannot be imported, or the user's configuration is invalid.

    """
    if not trust and not _is_trusted(root):
        _tell(
            names, root, f"to trust it, add --trust-plugins, or name its folder under {_KEY} in {user_configuration()}"
        )
        return None
    from devfix.rules.registry import all_rules

    plugins.load_local_rules(names, root)
    return {rule.code: rule.name for rule in all_rules()}


def leave_out(names: Sequence[str], root: str) -> None:
    """Print that the plugins of a repository were not loaded, for commands that never load them."""
    page = page_url("how-to/own-rules")
    _tell(names, root, f"only check, apply, rules and explain load it, if you trust it ({page})")


def _is_trusted(root: str) -> bool:
    """Whether the user's configuration names the folder or its repository."""
    folders = {os.path.realpath(root), os.path.realpath(git_root(os.path.realpath(root)) or root)}
    return any(os.path.realpath(os.path.expanduser(each)) in folders for each in _trusted_repositories())


def _trusted_repositories() -> list[str]:
    path = user_configuration()
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found: Any = tomllib.loads(raw.decode("utf-8")).get(_KEY, [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise ConfigError(f"{path}: {_KEY} must be a list of folders, not {found!r}")
    relative = [each for each in found if not os.path.isabs(os.path.expanduser(each))]
    if relative:
        raise ConfigError(f"{path}: {_KEY} must name absolute folders, not {relative[0]!r}")
    return found


def _tell(names: Sequence[str], root: str, advice: str) -> None:
    shown = ", ".join(repr(name) for name in names)
    if len(names) == 1:
        line = f"devfix: the plugin {shown} in {root} was not loaded; it is code of the repository: {advice}"
    else:
        line = f"devfix: the plugins {shown} in {root} were not loaded; they are code of the repository: {advice}"
    if line not in _told:
        _told.add(line)
        print(line, file=sys.stderr)
