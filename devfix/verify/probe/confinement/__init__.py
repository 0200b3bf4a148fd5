"""Confinement of a run by the kernel: its own network, files and processes.

Imports the standard library only.
"""

from __future__ import annotations

from .file_view import FileView
from .namespaces import Confinement, available

__all__ = ["Confinement", "FileView", "available"]
