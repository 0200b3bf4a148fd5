"""Bare mirrors of remote repositories in the user's cache folder, and worktrees of them.

A mirror is shallow and has no blobs, as far as the server supports it; a worktree's blobs are fetched when it is
created.  Without runs, a worktree contains only what the analysis reads.  Its files have the bytes of their
blobs: no filter runs, and no line ending, keyword or encoding is converted.  The source repository, even a local
checkout, is only read, and only by ``git fetch``.

The few files of an empty repository and of a worktree are written here, as gitrepository-layout(5) describes: for a
small repository, ``git init`` and ``git worktree add`` take as long as all other steps together.
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

from devfix.migrate.local_repositories import check_local, is_local
from devfix.migrate.task import Task
from devfix.sources import write_whole
from devfix.sources.cache_folder import cache_folder
from devfix.sources.digest import digest
from devfix.sources.removal import remove_tree
from devfix.vcs.git import Git, GitError
from devfix.vcs.redaction import redacted

__all__ = ["Checkout", "Mirror", "default_mirrors", "default_scratch", "slug"]

#: What the analysis reads, as sparse-checkout patterns: code, stubs, settings, and data that programs are made from.
_SPARSE_PATTERNS = "\n".join(
    (
        *("*.py", "*.pyw", "*.ipynb", "*.pyi"),
        *("pyproject.toml", ".gitignore"),
        *("*.yaml", "*.yml"),  # modules of configuration files
        *("requirements.txt", "setup.cfg"),  # releases of PyTorch
        "",
    )
)
#: Overrides the attributes of the repository, the user and the system (gitattributes(5)): files have the bytes of their
#: blobs.  ``working-tree-encoding`` cannot be false, only unspecified.
_ATTRIBUTES = "* -text -ident !eol !filter !working-tree-encoding\n"
_COMPLETE = "devfix-complete"
#: What killed git commands leave: locks, and packs that were not received completely.
_LEFTOVERS = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*")
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
#: For a repository on this machine that lacks contents, such as a partial clone: it leaves contents out, and sends
#: those of single files on request, whatever its own configuration says.
_LEAVE_CONTENTS_OUT = """\
	uploadpack = git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack
"""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CORRUPT = re.compile(
    r"corrupt|bad object|bad config|not a git repository: '?\.|missing (?:blob|tree|commit)|shallow file", re.I
)
_NOT_SENT = re.compile(r"could not fetch ([0-9a-f]+) from promisor")


def default_mirrors() -> str:
    """Return the default folder for mirrors."""
    return os.path.join(cache_folder(), "mirrors")


def default_scratch() -> str:
    """Return the default folder for worktrees."""
    return os.path.join(cache_folder(), "worktrees")


def slug(text: str) -> str:
    """Return a file name derived from ``text``: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[-80:] or "repository"


@dataclass(frozen=True)
class Checkout:
    """A worktree: its folder, its commit, and git in it."""

    folder: Path
    commit: str
    git: Git


class Mirror:
    """The mirror of a task's repository."""

    def __init__(self, task: Task) -> None:
        public_source = redacted(task.source)  # one mirror for all credentials
        name = f"{slug(public_source.removesuffix('.git').rpartition('://')[2])}-{digest(public_source)[:12]}.git"
        self.folder = Path(task.mirrors or default_mirrors(), name)
        self._scratch = Path(task.scratch or default_scratch())
        self._task = task
        self._size_before: int | None = None  # bytes, before the first command that may fetch
        self._is_too_large = False

    def tip(self) -> str:
        """Return the remote's commit for the ref, without fetching it.

        Raises:
            GitError: the ref does not exist, or the remote is unreachable.

        """
        ref = self._task.ref
        if _COMMIT.fullmatch(ref):
            return ref
        check_local(self._task.source)
        git = Git("/", self._task.source, self._task.git_timeout)
        refs = [f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"refs/heads/{ref}", ref] if ref else ["HEAD"]
        lines = (line.partition("\t") for line in git("ls-remote", "origin", *refs).splitlines())
        found = {name: commit for commit, _, name in lines}
        for name in refs:
            if name in found:
                return found[name]
        raise GitError(_missing_ref(git, ref))

    def fetch(self) -> str:
        """Fetch the ref and return its commit.

        Raises:
            GitError: the fetch failed.

        """
        check_local(self._task.source)
        with self._locked() as git:
            return self._fetch_or_recreate(git)

    @contextmanager
    def checkout(self, commit: str, *, all_files: bool) -> Iterator[Checkout]:
        """Create a worktree of a commit; delete it at the end.

        Args:
            commit: a fetched commit.
            all_files: whether to check out all files, or those that analysis needs.

        Raises:
            GitError: the worktree cannot be created.

        """
        self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        parent = Path(tempfile.mkdtemp(prefix=f"{slug(self._task.name)}-", dir=self._scratch)).resolve()
        folder = parent / slug(self._task.name)
        try:
            with self._locked() as git:
                if not (self.folder / _COMPLETE).exists():  # another task deleted it after the fetch
                    self._fetch_or_recreate(git)
                self._attach(folder, parent.name, commit)
                worktree_git = self._git(folder, git.lock)
                self._populate(worktree_git, all_files)
            yield Checkout(folder, commit, self._git(folder))
        finally:
            remove_tree(parent)
            with suppress(OSError), self._locked():
                pass  # cleanup removes worktrees without a folder

    def delete(self) -> None:
        """Delete the mirror, unless one of its worktrees is in use."""
        with suppress(OSError), self._locked():
            if not any(self.folder.glob("worktrees/*")):
                shutil.rmtree(self.folder, ignore_errors=True)
                os.unlink(self._lock_file)

    @contextmanager
    def locked(self) -> Iterator[Git]:
        """Lock the mirror, and yield git in it."""
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
            self._clean_up()
            if self._size_before is None:
                self._size_before = _size(self.folder / "objects")
            yield self._git(self.folder, descriptor)
        except GitError:
            self._clean_up()  # half a pack may have filled the disk
            raise
        finally:
            os.close(descriptor)

    def _git(self, folder: Path, lock: int | None = None) -> Git:
        return Git(str(folder), self._task.source, self._task.git_timeout, lock, check=self._check_size)

    def _check_size(self) -> None:
        """Raise ``GitError`` if the mirror grew by more than the task may fetch.

        Git has no such limit: a server may send any number of trees and files, of any size.
        """
        limit = self._task.max_fetch_mb
        if limit and _size(self.folder / "objects") - (self._size_before or 0) > limit << 20:
            self._is_too_large = True
            raise GitError(f"more than max-fetch = {limit} MB: raise it in the plan, or leave the repository out")

    def _lock(self) -> int:
        """Lock this path; reopen it if the previous holder deleted it."""
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

    def _clean_up(self) -> None:
        """Remove what killed processes left; the lock shows that they and their git commands have ended."""
        for path in (each for pattern in _LEFTOVERS for each in self.folder.glob(pattern)):
            path.unlink(missing_ok=True)
        for entry in self.folder.glob("worktrees/*"):
            with suppress(OSError):
                if not os.path.exists((entry / "gitdir").read_text("utf-8").strip()):
                    shutil.rmtree(entry, ignore_errors=True)
        if self._is_too_large and not any(self.folder.glob("worktrees/*")):  # else another task uses it
            shutil.rmtree(self.folder, ignore_errors=True)

    def _create(self, config: str = _CONFIG) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self._size_before = 0
        for name in ("objects", "refs/heads"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "config").write_text(config, "utf-8")
        (self.folder / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")

    def _fetch_or_recreate(self, git: Git) -> str:
        """Fetch; create the mirror if it is missing, incomplete or corrupt, or if a local source lacks contents."""
        if not (self.folder / _COMPLETE).exists():
            self._create()
        try:
            commit = self._fetch(git)
        except GitError as error:
            if not _CORRUPT.search(error.log):
                raise
            self._create(_CONFIG + _LEAVE_CONTENTS_OUT if is_local(self._task.source) else _CONFIG)
            commit = self._fetch(git)
        (self.folder / _COMPLETE).touch()
        return commit

    def _fetch(self, git: Git) -> str:
        ref = self._task.ref or "HEAD"
        local_ref = f"refs/devfix/{digest(ref)}"
        options = (
            "--quiet",
            "--depth=1",
            "--filter=blob:none",
            "--no-tags",
            "--no-write-fetch-head",
            "--update-shallow",
        )
        try:
            git("fetch", *options, "origin", f"+{ref}:{local_ref}")
            if not self._task.ref:  # a commit, not a tag
                return (self.folder / local_ref).read_text("utf-8").strip()
            return git("rev-parse", "--verify", "--quiet", f"{local_ref}^{{commit}}").strip()
        except GitError as error:
            if "remote ref" in str(error):
                raise GitError(_missing_ref(git, self._task.ref), error.log) from error
            raise

    def _attach(self, folder: Path, name: str, commit: str) -> None:
        """Create an empty worktree whose HEAD is the commit."""
        admin = self.folder / "worktrees" / name
        (admin / "info").mkdir(parents=True)
        folder.mkdir()
        (folder / ".git").write_text(f"gitdir: {admin.resolve()}\n", "utf-8")
        (admin / "gitdir").write_text(f"{folder / '.git'}\n", "utf-8")
        (admin / "commondir").write_text("../..\n", "utf-8")
        (admin / "HEAD").write_text(f"{commit}\n", "utf-8")
        (admin / "info" / "sparse-checkout").write_text(_SPARSE_PATTERNS, "utf-8")
        self._set_attributes()

    def _set_attributes(self) -> None:
        """Write the attributes, which all worktrees share and another task may be reading."""
        attributes = self.folder / "info" / "attributes"
        attributes.parent.mkdir(exist_ok=True)
        if not attributes.is_file() or attributes.read_text("utf-8", "replace") != _ATTRIBUTES:
            write_whole(attributes, [_ATTRIBUTES.encode()], synced=False)

    def _populate(self, git: Git, all_files: bool) -> None:
        sparse = () if all_files else ("-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false")
        try:
            git(*sparse, "read-tree", "-m", "-u", "HEAD")
        except GitError as error:
            missing = _NOT_SENT.search(error.log)
            if missing is None:
                raise
            lacks = f"the repository lacks the content {missing[1]} of a file: it is damaged, or a partial clone"
            raise GitError(f"{lacks}; clone it completely, or use the URL of its remote", error.log) from error


def _size(folder: Path) -> int:
    """Return the size of the files in a folder in bytes; git may delete some meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def _missing_ref(git: Git, ref: str) -> str:
    """Return why the remote ``origin`` does not have a ref, and what to do."""
    if not ref:
        branches = [line.rpartition("refs/heads/")[2] for line in git("ls-remote", "--heads", "origin").splitlines()]
        if not branches:
            return "the repository has no commit: leave it out of the plan until it has one"
        return f'its HEAD points to no branch: name one in the plan, such as ref = "{branches[0]}"'
    is_short_hash = re.fullmatch(r"[0-9a-f]{4,39}", ref)
    return f"there is no branch, tag or commit {ref!r}" + ("; use the full hash of a commit" if is_short_hash else "")
