"""Settings in YAML, JSON and INI files that choose a device: ``device: cuda``, ``use_gpu = true``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from devfix.sources._discovery import discover

__all__ = ["DeviceSetting", "device_settings", "settings_around"]

_SUFFIXES = (".yaml", ".yml", ".json", ".cfg", ".ini", ".conf")
_FOLDER = re.compile(r"(?:conf|cfg|setting|option|hparam|param|yaml|experiment)", re.IGNORECASE)
_LARGEST = 200_000  # bytes; larger files are data
_KEY = r"""[\s{,-]*["']?(?P<key>%s)["']?\s*[:=]\s*"""
_END = r"""\s*[,}]*\s*(?:\#.*)?"""
_DEVICE = re.compile(_KEY % r"(?:[\w.]+[_-])?device" + r"""["']?(?P<value>cuda(?::\d+)?)["']?""" + _END)
_FLAG = re.compile(_KEY % r"[\w.-]*(?i:cuda|gpu)[\w.-]*" + r"(?P<value>(?i:true|false))" + _END)


@dataclass(frozen=True)
class DeviceSetting:
    """A line of a settings file.

    Attributes:
        path: the file.
        line: from 1.
        key: ``device``.
        value: a CUDA device, or ``true`` or ``false`` of a flag for CUDA.

    """

    path: str
    line: int
    key: str
    value: str

    @property
    def is_device(self) -> bool:
        """Return whether the setting is the name of a CUDA device."""
        return self.value.startswith("cuda")


def device_settings(paths: Sequence[str], exclude: Sequence[str] = (), root: str = ".") -> Iterator[DeviceSetting]:
    """Yield the lines of settings files in folders and among files that name a CUDA device, or are a flag for CUDA."""
    return _settings(discover(paths, exclude, root, _SUFFIXES).files)


def settings_around(paths: Iterable[str]) -> list[str]:
    """Return settings files in the folders of files and in those above that hold all of them, and folders for settings.

    Other folders are not searched: what is common to files of several projects may be the whole machine.
    """
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}
    try:
        common = os.path.commonpath(folders) if folders else ""
    except ValueError:  # on several drives
        common = ""
    found: dict[str, None] = {}
    for folder in sorted(folders):
        while folder.startswith(common):
            found.update(dict.fromkeys(_in_folder(folder)))
            if not common or folder == common or folder == os.path.dirname(folder):
                break
            folder = os.path.dirname(folder)
    return list(found)


def _in_folder(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                each.path
                for each in entries
                if (each.name.endswith(_SUFFIXES) and each.is_file()) or (_FOLDER.match(each.name) and each.is_dir())
            )
    except OSError:
        return []  # text from standard input has no folder


def _settings(files: Iterable[str]) -> Iterator[DeviceSetting]:
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            match = _DEVICE.fullmatch(line) or _FLAG.fullmatch(line)
            if match is not None:
                yield DeviceSetting(path, number, match["key"], match["value"].lower())


def _lines(path: str) -> list[str]:
    try:
        if os.path.getsize(path) > _LARGEST:
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
