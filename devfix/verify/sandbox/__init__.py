"""What a run gets: a scratch copy of its project, an environment without secrets, and files that it may read."""

from __future__ import annotations

from devfix.verify.sandbox.file_access import file_view, link_into_home, named_paths, withheld_path
from devfix.verify.sandbox.scratch import (
    DEFAULT_SIZE_LIMIT,
    SKIPPED_FOLDERS,
    CopyError,
    ProjectTooLarge,
    Scratch,
    UnsafeChange,
    clean_environment,
    overlay,
    scratch_copy,
)

__all__ = [
    "DEFAULT_SIZE_LIMIT",
    "SKIPPED_FOLDERS",
    "CopyError",
    "ProjectTooLarge",
    "Scratch",
    "UnsafeChange",
    "clean_environment",
    "file_view",
    "link_into_home",
    "named_paths",
    "overlay",
    "scratch_copy",
    "withheld_path",
]
