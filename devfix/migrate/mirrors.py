"""Bare mirrors of remote repositories in the user's cache folder, and worktrees of them.

A mirror is shallow and without blobs, as far as the server has it: what a worktree needs is fetched when it is made.
Without runs that is Python files and configuration, whatever else lies in the repository.  The repository that is
named, be it a checkout on this machine, is read by ``git fetch`` and by nothing else.

The few files of an empty repository and of a worktree are written here, as gitrepository-layout(5) has them: for a
small repository, ``git init`` and ``git worktree add`` cost as much as all the rest.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from devfix.engine.cache import default_folder
from devfix.migrate.task import Task
from devfix.sources.digest import digest
from devfix.vcs.git import Git, GitError
from devfix.vcs.redaction import redacted

__all__ = ["Checkout", "Mirror", "default_mirrors", "default_scratch", "slug"]

#: What reading needs of a repository.
_READ = "*.py\n*.pyw\n*.ipynb\npyproject.toml\n.gitignore\n"
_COMPLETE = "devfix-complete"
_CONFIG = """\
[core]
	repositoryformatversion = 1
	bare = true
[extensions]
	partialClone = origin
[remote "origin"]
	promisor = true
	partialclonefilter = blob:none
"""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CORRUPT = re.compile(
    r"corrupt|bad object|bad config|not a git repository: '?\.|missing (?:blob|tree|commit)|shallow file", re.I
)


def default_mirrors() -> str:
    """Where mirrors lie on this machine, unless it is said."""
    return os.path.join(default_folder(), "mirrors")


def default_scratch() -> str:
    """Where worktrees lie on this machine, unless it is said."""
    return os.path.join(default_folder(), "worktrees")


def slug(text: str) -> str:
    """A file's name that tells of ``text``: letters, digits, dots, dashes."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[-80:] or "repository"


@dataclass(frozen=True)
class Checkout:
    """A worktree: the folder, the commit that it shows, and git in it."""

    folder: Path
    commit: str
    git: Git


class Mirror:
    """The mirror of one task's repository."""

    def __init__(self, task: Task) -> None:
        shown = redacted(task.source)  # the same mirror, whoever logs in
        name = f"{slug(shown.removesuffix('.git').rpartition('://')[2])}-{digest(shown)[:12]}.git"
        self.folder = Path(task.mirrors or default_mirrors(), name)
        self._scratch = Path(task.scratch or default_scratch())
        self._task = task

    def tip(self) -> str:
        """The commit that the remote has under the ref, without fetching it.

        Raises:
            GitError: there is none, or the remote cannot be asked.

        """
        ref = self._task.ref
        if _COMMIT.fullmatch(ref):
            return ref
        git = Git("/", self._task.source, self._task.git_timeout)
        wanted = [f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"refs/heads/{ref}", ref] if ref else ["HEAD"]
        lines = (line.partition("\t") for line in git("ls-remote", "origin", *wanted).splitlines())
        found = {name: commit for commit, _, name in lines}
        for name in wanted:
            if name in found:
                return found[name]
        raise GitError(_missing(ref))

    def fetch(self) -> str:
        """Fetch the ref and return its commit.

        Raises:
            GitError: it cannot be fetched.

        """
        with self._locked() as git:
            return self._fetch_well(git)

    @contextmanager
    def checkout(self, commit: str, *, whole: bool) -> Iterator[Checkout]:
        """A worktree of a commit, deleted afterwards.

        Args:
            commit: one that was fetched.
            whole: with all files; else those that reading needs.

        Raises:
            GitError: it cannot be made.

        """
        self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        holder = Path(tempfile.mkdtemp(prefix=f"{slug(self._task.name)}-", dir=self._scratch)).resolve()
        folder = holder / slug(self._task.name)
        try:
            with self._locked() as git:
                if not (self.folder / _COMPLETE).exists():  # since the fetch, another task has deleted it
                    self._fetch_well(git)
                self._attach(folder, holder.name, commit)
                inside = Git(str(folder), self._task.source, self._task.git_timeout, git.lock)
                self._fill(inside, whole)
            yield Checkout(folder, commit, Git(str(folder), self._task.source, self._task.git_timeout))
        finally:
            shutil.rmtree(holder, ignore_errors=True)
            with suppress(OSError), self._locked():
                pass  # which forgets worktrees whose folder has gone

    def delete(self) -> None:
        """Delete it, unless another worktree of it is in use."""
        with suppress(OSError), self._locked():
            if not any(self.folder.glob("worktrees/*")):
                shutil.rmtree(self.folder, ignore_errors=True)
                os.unlink(self._lock_file)

    @contextmanager
    def locked(self) -> Iterator[Git]:
        """Git in the mirror, while nobody else works there."""
        with self._locked() as git:
            yield git

    # --- within ---------------------------------------------------------------------------------------------------
    @property
    def _lock_file(self) -> str:
        return f"{self.folder}.lock"

    @contextmanager
    def _locked(self) -> Iterator[Git]:
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = self._lock()
        try:
            self._tidy()
            yield Git(str(self.folder), self._task.source, self._task.git_timeout, descriptor)
        finally:
            os.close(descriptor)

    def _lock(self) -> int:
        """A lock on the file of this name, which who held it may have deleted."""
        while True:
            descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if os.fstat(descriptor).st_ino == os.stat(self._lock_file).st_ino:
                    return descriptor
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _tidy(self) -> None:
        """Remove what killed processes left: who held the lock has ended, and the git commands that it started."""
        for path in (*self.folder.glob("*.lock"), *self.folder.glob("refs/**/*.lock")):
            path.unlink(missing_ok=True)
        for entry in self.folder.glob("worktrees/*"):
            with suppress(OSError):
                if not os.path.exists((entry / "gitdir").read_text("utf-8").strip()):
                    shutil.rmtree(entry, ignore_errors=True)

    def _begin(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name in ("objects", "refs/heads"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "config").write_text(_CONFIG, "utf-8")
        (self.folder / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")

    def _fetch_well(self, git: Git) -> str:
        """Fetch into a mirror that is there and whole, or is made anew."""
        if not (self.folder / _COMPLETE).exists():
            self._begin()
        try:
            commit = self._fetch(git)
        except GitError as error:
            if not _CORRUPT.search(error.log):
                raise
            self._begin()
            commit = self._fetch(git)
        (self.folder / _COMPLETE).touch()
        return commit

    def _fetch(self, git: Git) -> str:
        ref = self._task.ref or "HEAD"
        kept = f"refs/devfix/{digest(ref)}"
        options = (
            "--quiet",
            "--depth=1",
            "--filter=blob:none",
            "--no-tags",
            "--no-write-fetch-head",
            "--update-shallow",
        )
        try:
            git("fetch", *options, "origin", f"+{ref}:{kept}")
            if not self._task.ref:  # a commit, and no tag of one
                return (self.folder / kept).read_text("utf-8").strip()
            return git("rev-parse", "--verify", "--quiet", f"{kept}^{{commit}}").strip()
        except GitError as error:
            if "remote ref" in str(error):
                raise GitError(_missing(self._task.ref), error.log) from error
            raise

    def _attach(self, folder: Path, name: str, commit: str) -> None:
        """An empty worktree whose HEAD is the commit."""
        admin = self.folder / "worktrees" / name
        (admin / "info").mkdir(parents=True)
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {admin.resolve()}\n", "utf-8")
        (admin / "gitdir").write_text(f"{folder / '.git'}\n", "utf-8")
        (admin / "commondir").write_text("../..\n", "utf-8")
        (admin / "HEAD").write_text(f"{commit}\n", "utf-8")
        (admin / "info" / "sparse-checkout").write_text(_READ, "utf-8")

    def _fill(self, git: Git, whole: bool) -> None:
        if whole:
            git("read-tree", "-m", "-u", "HEAD")
            return
        git("-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false", "read-tree", "-m", "-u", "HEAD")


def _missing(ref: str) -> str:
    if not ref:
        return "the repository has no commit: its HEAD leads nowhere"
    short = re.fullmatch(r"[0-9a-f]{4,39}", ref)
    return f"there is no branch, tag or commit {ref!r}" + ("; a commit is named by all its digits" if short else "")
