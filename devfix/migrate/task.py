"""The task of migrating one repository: all data that a worker needs, on any machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache

from devfix.engine.cache import tool_version
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.sources.digest import digest
from devfix.vcs.codeowners import Dialect
from devfix.vcs.redaction import redacted

__all__ = [
    "DEFAULT_MAX_FETCH_MB",
    "DEFAULT_MEMORY_MB",
    "DEFAULT_TIMEOUT_S",
    "Limits",
    "Publishing",
    "Task",
    "Verification",
    "Work",
]

DEFAULT_TIMEOUT_S = 3600.0
DEFAULT_MEMORY_MB = 4096
DEFAULT_MAX_FETCH_MB = 2048
DEFAULT_BRANCH = "devfix/device"
DEFAULT_AUTHOR = "devfix <devfix@localhost>"
DEFAULT_MESSAGE = "Keep tensors and modules on the device that computes with them"


@dataclass(frozen=True)
class Verification:
    """How to verify a repository's patch, as ``devfix verify`` does.

    Attributes:
        script: a path in the analysed sub-folder, or a module name if ``module`` is set.
        args: the script's arguments.
        module: whether to run the script as ``python -m`` does.
        python: the interpreter; empty for the one in the repository's virtual environment, else the current one.
        setup: arguments of a first run, as one shell string, or another script of the repository (``….py``) and its
            arguments; empty for none.
        device: one of :data:`devfix.verify.targets.CHOICES`.
        max_steps: the number of optimizer steps after which a run ends; None for no limit.
        timeout: the time limit of each run in seconds.
        memory_mb: the memory limit of each run in MB.

    """

    script: str
    args: tuple[str, ...] = ()
    module: bool = False
    python: str = ""
    setup: str = ""
    device: str = "auto"
    max_steps: int | None = None
    timeout: float = 120.0
    memory_mb: int = 8192


@dataclass(frozen=True)
class Limits:
    """The limits on the pull requests of a plan.

    Attributes:
        max_open: the maximum number of open pull requests.
        max_hourly: the maximum number of pull requests opened within an hour.
        window: when pull requests may be opened, as in :class:`devfix.migrate.window.Window`; empty for always.

    """

    max_open: int = 50
    max_hourly: int = 20
    window: str = ""


@dataclass(frozen=True)
class Publishing:
    """How to publish a patch.

    Attributes:
        kind: ``patch`` (a file), ``branch`` (also a commit in the mirror), ``push`` (also on the remote),
            ``pull-request`` (also proposed; the worker only makes the patch).
        branch: the name of the branch, the same in every run.
        author: ``Name <address>``.
        message: the first line of the commit message, and the title of the pull request.
        labels, reviewers: of the pull request.
        draft: whether the pull request is a draft.
        fork: when to push the branch of a pull request to a fork: ``never``, ``auto`` (if the token may not push to the
            repository) or ``always``.
        fork_owner: the account that gets the fork; empty for the token's own.
        split: whether each set of owners gets a change of its files only.
        owner_reviews: whether the owners of changed files are asked for a review.
        dialect: the forge, whose syntax the CODEOWNERS file has; None if it is unknown or not needed.
        limits: the limits on pull requests, the same for the whole plan.

    """

    kind: str = "patch"
    branch: str = DEFAULT_BRANCH
    author: str = DEFAULT_AUTHOR
    message: str = DEFAULT_MESSAGE
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    draft: bool = True
    fork: str = "never"
    fork_owner: str = ""
    split: bool = False
    owner_reviews: bool = False
    dialect: Dialect | None = None
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)  # there may be a million
class Task:
    """One repository.  Picklable, because it is sent to other processes and machines.

    Attributes:
        number: the position in the plan, from 0.
        name: a unique name in the plan, usable as a file name.
        source: URL or absolute path for git; it may contain credentials: show :attr:`repository` instead.
        ref: branch, tag or commit; empty for the remote's default.
        folder: the analysed sub-folder, with forward slashes; empty for the whole repository.
        select, ignore: rules, as for ``--select`` and ``--ignore``.
        severity: as for ``--severity``; empty for the repository's configuration.
        unsafe_fixes: as for ``--unsafe-fixes``.
        verification: how to verify the patch; None to skip verification.
        publishing: how to publish the patch.
        mirrors: the folder of bare mirrors; empty for the worker's default.
        keep_mirror: whether to keep the mirror, so that a later run fetches only new objects.
        scratch: the folder of worktrees; empty for the worker's default.
        git_timeout: the time limit of each git command in seconds.
        timeout: the time limit of the task in seconds, after which the engine ends the worker.
        memory_mb: the memory limit of a worker for analysis and fixes, in MB; 0 for none.
        max_fetch_mb: the limit on what git fetches for the task, in MB on disk; 0 for none.
        done_commits: commits processed before with these settings, whose records remain valid.
        results: the folder or object store (fsspec URL) to which the worker writes the record; empty to send it to the
            main machine.
        plan_location: the task's line in the plan (``plan.toml:12``), for errors; empty without a plan.

    """

    number: int
    name: str
    source: str
    ref: str = ""
    folder: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: str = ""
    unsafe_fixes: bool = False
    verification: Verification | None = None
    publishing: Publishing = Publishing()
    mirrors: str = ""
    keep_mirror: bool = True
    scratch: str = ""
    git_timeout: float = 600.0
    timeout: float = DEFAULT_TIMEOUT_S
    memory_mb: int = DEFAULT_MEMORY_MB
    max_fetch_mb: int = DEFAULT_MAX_FETCH_MB
    done_commits: tuple[str, ...] = ()
    results: str = ""
    plan_location: str = ""

    @property
    def repository(self) -> str:
        """The source without credentials, for display and storage."""
        return redacted(self.source)

    @property
    def branch_owner(self) -> str:
        """The owner of the task's branch: another entry's branch is never replaced."""
        return f"migrate {self.ref} {self.folder}"

    @property
    def settings_key(self) -> str:
        """Digest of the settings that affect the result, besides the commit and the version of devfix."""
        analysis = self.ref, self.folder, self.select, self.ignore, self.severity, self.unsafe_fixes
        asked = self.publishing
        texts = (asked.kind, asked.branch, asked.author, asked.message)
        return _settings_key(analysis, self.verification, (*texts, asked.split, asked.owner_reviews, asked.dialect))

    @property
    def tool_key(self) -> str:
        """Digest of the code that produces the result."""
        return tool_version()

    def failed(self, stage: str, reason: str, *, commit: str = "", seconds: float = 0.0, log: str = "") -> Record:
        """Return the record of a repository that an error ended."""
        return Record(
            number=self.number,
            name=self.name,
            repository=self.repository,
            outcome=RepositoryOutcome.FAILED,
            ref=self.ref,
            folder=self.folder,
            commit=commit,
            stage=stage,
            reason=redacted(reason),
            seconds=seconds,
            log=redacted(log),
        )


@lru_cache(maxsize=4096)  # most tasks of a plan have the same
def _settings_key(
    analysis: tuple[object, ...], verification: Verification | None, publishing: tuple[object, ...]
) -> str:
    script = None if verification is None else asdict(verification)
    return digest(json.dumps([analysis, script, publishing]))


#: The function that processes a task: :func:`devfix.migrate.work.migrate`.  It never raises.
Work = Callable[[Task], Record]
