"""The pull request of a repository: how to open it, and its progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any

from devfix.migrate.record import Part
from devfix.migrate.task import Task

__all__ = ["Change", "ChangeState", "branch_of"]


class ChangeState(str, Enum):
    """The progress of a pull request."""

    WAITING = "waiting"  # the patch is ready, the branch is not pushed
    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"
    REFUSED = "refused"  # the branch or the pull request was refused, or a person stopped it: see ``Change.reason``


@dataclass(frozen=True)
class Change:
    """The pull request of one repository.

    Attributes:
        branch, author, message: as in :class:`devfix.migrate.task.Publishing`.
        owner: as in :class:`devfix.vcs.commits.Commit`.
        owners: the owners of its files, if the patch is split; None otherwise.
        labels, reviewers: of the pull request.
        draft: whether it is opened as a draft.
        fork, fork_owner: as in :class:`devfix.migrate.task.Publishing`.
        repository: the fork from which it was opened; empty for the repository itself.
        commit: the commit that was pushed; empty until then.
        state: its progress.
        url: its address; empty until it is opened.
        reason: why it was refused, could not be opened, or lacks labels or reviewers; empty otherwise.
        opened: when it was opened, in seconds since 1970; 0 if it was not.

    """

    branch: str
    author: str
    message: str
    owner: str
    owners: tuple[str, ...] | None = None
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    draft: bool = True
    fork: str = "never"
    fork_owner: str = ""
    repository: str = ""
    commit: str = ""
    state: ChangeState = ChangeState.WAITING
    url: str = ""
    reason: str = ""
    opened: float = 0.0

    @classmethod
    def of(cls, task: Task, part: Part | None = None) -> Change:
        """Return the pull request of a task, or of a part of its patch, before it is opened."""
        asked = task.publishing
        owners = part.owners if part is not None and part.name else None
        return cls(
            branch=branch_of(asked.branch, part),
            author=asked.author,
            message=asked.message,
            owner=task.branch_owner if owners is None else f"{task.branch_owner} {' '.join(owners)}",
            owners=owners,
            labels=asked.labels,
            reviewers=_people(part.owners) if part is not None and asked.owner_reviews else asked.reviewers,
            draft=asked.draft,
            fork=asked.fork,
            fork_owner=asked.fork_owner,
        )

    def updated(self, fresh: Change) -> Change:
        """Return the pull request with the texts of a new one; after it was opened, its branch stays."""
        if self.url:
            fresh = replace(fresh, branch=self.branch, owner=self.owner, repository=self.repository, commit=self.commit)
        return replace(fresh, state=self.state, url=self.url, reason=self.reason, opened=self.opened)

    def to_document(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {**asdict(self), "state": self.state.value}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Change:
        """Return the pull request of a document; raise ``TypeError`` or ``ValueError`` for another document."""
        lists = {
            key: tuple(document[key]) for key in ("labels", "reviewers", "owners") if document.get(key) is not None
        }
        return cls(**{**document, **lists, "state": ChangeState(document["state"])})


def branch_of(branch: str, part: Part | None) -> str:
    """Return the branch of a part; without one, or for the whole patch, the plan's."""
    return f"{branch}-{part.name}" if part is not None and part.name else branch


def _people(owners: tuple[str, ...]) -> tuple[str, ...]:
    """Return the users and teams among owners; the others are addresses and roles, which cannot be asked."""
    return tuple(owner[1:] for owner in owners if owner.startswith("@") and not owner.startswith("@@"))
