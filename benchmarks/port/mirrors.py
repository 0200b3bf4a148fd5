"""Trees of public repositories, from a folder of git directories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["FOLDER", "git_directory", "unpack"]

#: Environment variable with the folder of git directories: ``OWNER+NAME/repo`` or ``OWNER+NAME/repo/.git``.
FOLDER = "DEVFIX_MIRRORS"


_SUFFIXES = frozenset({".yaml", ".yml", ".json", ".cfg", ".ini", ".conf"})


def git_directory(repository: str) -> Path:
    """Return the git directory of ``owner/name``.

    Raises:
        FileNotFoundError: if the folder has none.

    """
    base = Path(os.environ.get(FOLDER, "mirrors")) / repository.replace("/", "+") / "repo"
    for folder in (base / ".git", base):
        if (folder / "HEAD").exists():
            return folder
    raise FileNotFoundError(f"no git directory of {repository}; {FOLDER} names their folder")


def unpack(repository: str, commit: str, folder: Path) -> None:
    """Write the Python files of a commit, and its settings, into a folder.

    Raises:
        FileNotFoundError: if there is no git directory of the repository.
        RuntimeError: if the commit cannot be read.

    """
    git = ["git", f"--git-dir={git_directory(repository).resolve()}"]
    named = subprocess.run([*git, "ls-tree", "-r", "--name-only", commit], capture_output=True, text=True, check=False)
    suffixes = {Path(name).suffix for name in named.stdout.splitlines()} & _SUFFIXES
    patterns = [f":(glob)**/*{suffix}" for suffix in (".py", *sorted(suffixes))]
    folder.mkdir(parents=True, exist_ok=True)
    # git writes within the folder only, and symbolic links as files
    source = ["-c", "core.symlinks=false", f"--work-tree={folder}", "restore", "--worktree", f"--source={commit}"]
    done = subprocess.run([*git, *source, "--", *patterns], capture_output=True, cwd=folder, check=False)
    if done.returncode:
        raise RuntimeError(f"{repository} {commit}: {done.stderr.decode(errors='replace').strip()}")
