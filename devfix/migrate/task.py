"""What is to be done with one repository: everything that a worker needs, on whatever machine it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from devfix.engine.cache import tool_version
from devfix.migrate.record import Record, RepositoryOutcome
from devfix.sources.digest import digest
from devfix.vcs.redaction import redacted

__all__ = ["Publishing", "Task", "Verification", "Work"]

DEFAULT_BRANCH = "devfix/device"
DEFAULT_AUTHOR = "devfix <devfix@localhost>"
DEFAULT_MESSAGE = "Keep tensors and modules on the device that computes with them"


@dataclass(frozen=True)
class Verification:
    """How a repository's patch is proved, as by ``devfix verify``.

    Attributes:
        script: a path in the sub-folder that is worked on, or with ``module`` a module's name.
        args: the script's arguments.
        module: start it as ``python -m`` does.
        python: the interpreter; empty for the one of the repository's virtual environment, else ours.
        setup: arguments of a run that comes first, as one shell word, or a script of the repository (``….py``) and its
            arguments; empty for none.
        device: one of :data:`devfix.verify.targets.CHOICES`.
        max_steps: end each run after so many optimizer steps.
        timeout: seconds for each run.
        memory_mb: memory for each run.

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
class Publishing:
    """What is made of a patch.

    Attributes:
        kind: ``patch`` (a file), ``branch`` (and a commit in the mirror), ``push`` (and that at the remote),
            ``pull-request`` (and one that proposes it).
        branch: the branch's name, which stays the same from run to run.
        author: ``Name <address>``.
        message: the first line of the commit's message.

    """

    kind: str = "patch"
    branch: str = DEFAULT_BRANCH
    author: str = DEFAULT_AUTHOR
    message: str = DEFAULT_MESSAGE


@dataclass(frozen=True)
class Task:
    """One repository. Picklable, and all text: it travels to other processes and machines.

    Attributes:
        number: place in the plan, from 0.
        name: unique in the plan, and fit for a file's name.
        source: URL or absolute path, as git takes it; it may hold credentials: show :attr:`repository`.
        ref: branch, tag or commit; empty for the remote's default.
        folder: the sub-folder that is worked on, with forward slashes; empty for all of it.
        select, ignore: rules, as ``--select`` and ``--ignore`` take them.
        severity: as ``--severity``; empty for what the repository's configuration says.
        unsafe_fixes: as ``--unsafe-fixes``.
        verification: how the patch is proved; None for not at all.
        publishing: what is made of it.
        mirrors: the folder of bare mirrors; empty for the default of the machine that works.
        keep_mirror: the mirror stays, so that a later run fetches what is new; else the disk holds those in work only.
        scratch: the folder for worktrees; empty for the default of the machine that works.
        git_timeout: seconds for each call of git.
        timeout: seconds for all of it, after which the engine ends the worker.
        memory_mb: memory of a worker while it reads and repairs; 0 for no limit.
        done: commits that were worked on with these settings: their records stand.
        origin: where the plan names it (``plan.toml:12``), for errors; empty where there is no plan.

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
    timeout: float = 3600.0
    memory_mb: int = 4096
    done: tuple[str, ...] = ()
    origin: str = ""

    @property
    def repository(self) -> str:
        """The source without credentials, to be shown and kept."""
        return redacted(self.source)

    @property
    def settings_key(self) -> str:
        """A digest of what decides on the result, beside the commit and the tool."""
        decides = {
            "ref": self.ref,
            "folder": self.folder,
            "select": self.select,
            "ignore": self.ignore,
            "severity": self.severity,
            "unsafe_fixes": self.unsafe_fixes,
            "verification": None if self.verification is None else asdict(self.verification),
            "publishing": asdict(self.publishing),
        }
        return digest(json.dumps(decides, sort_keys=True))

    @property
    def tool_key(self) -> str:
        """Names the code that gives the result."""
        return tool_version()

    def failed(self, stage: str, reason: str, *, commit: str = "", seconds: float = 0.0, log: str = "") -> Record:
        """The record of a repository that could not be worked on to the end."""
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


#: What an engine is given to do with a task: :func:`devfix.migrate.work.migrate`.  It raises nothing.
Work = Callable[[Task], Record]
