"""The built-in models as one JSON file in the cache folder: reading it is faster than parsing every stub.

JSON cannot run code.  A file that cannot be read or written is not an error: the stubs are parsed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from devfix.models.stub_language import StubEntry, StubFile, read_folder
from devfix.sources.cache_folder import cache_folder
from devfix.sources.digest import digest

__all__ = ["content_of", "load", "package_folders"]

_FOLDER = Path(__file__).parent
_TABLE = _FOLDER / "aten.json"
_STUBS = _FOLDER / "stubs"
_NAME = "devfix-models"  # of a folder of stubs in a package


def load() -> tuple[StubFile, dict[str, Any]]:
    """Return the stubs and the table that come with devfix."""
    key = _state([_STUBS], [_TABLE, Path(__file__), _FOLDER / "stub_language.py"])
    path = Path(cache_folder()) / f"models-{key}.json"
    stored = _read(path)
    if stored is not None:
        return stored
    stubs, table = read_folder(_STUBS), json.loads(_TABLE.read_text(encoding="utf-8"))
    _write(path, stubs, table)
    return stubs, table


def _read(path: Path) -> tuple[StubFile, dict[str, Any]] | None:
    try:
        data = json.loads(path.read_bytes())
        entries = {name: StubEntry(*fields) for name, fields in data["entries"].items()}
        stubs = StubFile(entries, set(data["modules"]), data["module_aliases"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return stubs, data["table"]


def _write(path: Path, stubs: StubFile, table: dict[str, Any]) -> None:
    data = {
        "entries": {name: list(asdict(entry).values()) for name, entry in stubs.entries.items()},
        "modules": sorted(stubs.modules),
        "module_aliases": stubs.module_aliases,
        "table": {key: table.get(key, {}) for key in ("functions", "aliases")},
    }
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
        os.replace(temporary, path)
        for old in path.parent.glob("models-*.json"):
            if old != path:
                old.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):  # the folder may be a file
            temporary.unlink()


@lru_cache(maxsize=1)
def package_folders() -> tuple[str, ...]:
    """Return the folders of stubs that installed packages ship: ``devfix-models`` in the folder of the package."""
    import sys

    found = []
    for entry in sys.path:
        if Path(entry).name in ("site-packages", "dist-packages"):
            found += [str(path) for path in sorted(Path(entry).glob(f"*/{_NAME}")) if path.is_dir()]
    return tuple(found)


def content_of(folders: Iterable[str]) -> str:
    """Return a digest of the state of folders of stubs: names, sizes and times of change."""
    return _state([Path(folder) for folder in folders], [])


def _state(folders: Iterable[Path], files: Iterable[Path]) -> str:
    return digest(*(part for path in (*_stubs_in(folders), *files) for part in _status(path)))


def _stubs_in(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(folder.rglob("*.pyi"))


def _status(path: Path) -> tuple[str, str]:
    try:
        status = path.stat()
    except OSError:
        return str(path), "gone"
    return str(path), f"{status.st_size} {status.st_mtime_ns}"
