"""The bot's pull requests: one per group of rules, updated on every run, closed when nothing is left to fix."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from devfix.bot import artifact as artifacts
from devfix.bot import templates
from devfix.bot.analysis import analyse
from devfix.bot.artifact import Artifact, build_artifact
from devfix.bot.branches import Proposal, propose, refuse_reproposal
from devfix.bot.environment import CIEnvironment, Token
from devfix.bot.forge import Forge, PullRequest, raise_if_stopped
from devfix.bot.push import Remote
from devfix.bot.settings import BotSettings
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.vcs.commits import Commit, list_item
from devfix.vcs.git import Git, GitError

__all__ = ["PREFIX", "Change", "find_changes", "groups", "open_all", "propose_all", "read_changes", "write_changes"]

PREFIX = "devfix/"
_DEFAULT_GROUP = "device"


@dataclass(frozen=True)
class Change:
    """The patch of one group; ``problem`` says why there is none."""

    group: str
    artifact: Artifact
    problem: str = ""

    @property
    def branch(self) -> str:
        return PREFIX + self.group

    @property
    def patch(self) -> str:
        """The patch's SHA-256."""
        return hashlib.sha256(self.artifact.patch).hexdigest()

    @property
    def title(self) -> str:
        return templates.title(self.artifact["findings"])

    @property
    def body(self) -> str:
        return templates.pull_request(
            self.artifact.manifest, self.group, self.patch, self.artifact.patch.decode("utf-8", "replace")
        )


def groups(settings: BotSettings) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield the name, selected rules and ignored rules of each group; the default group, last, has all other rules."""
    for name, codes in settings.groups.items():
        yield name, codes, ()
    yield _DEFAULT_GROUP, (), tuple(code for codes in settings.groups.values() for code in codes)


def open_all(
    environment: CIEnvironment,
    settings: BotSettings,
    forge: Forge,
    token: Token,
    *,
    dry_run: bool = False,
    jobs: int = 1,
) -> Iterator[str]:
    """Open, update or close the bot's pull requests for the checkout in the current folder.

    Args:
        environment: the repository.
        settings: groups, limits and verification.
        forge: the forge.
        token: the token for ``git push``.
        dry_run: whether to push nothing.
        jobs: number of worker processes.

    Yields:
        One line for each group.

    Raises:
        BotError: one or more groups failed; all groups were attempted.

    """
    _check_checkout(forge.default_branch())
    changes = find_changes(environment, settings, jobs)
    yield from propose_all(changes, settings, forge, token, dry_run=dry_run)


def find_changes(environment: CIEnvironment, settings: BotSettings, jobs: int = 1) -> Iterator[Change]:
    """Yield the patch of each group for the checkout in the current folder; some may be empty.

    Raises:
        BotError: the current folder is no checkout.

    """
    head = _head()
    for name, select, ignore in groups(settings):
        analysis = analyse(settings.paths, settings.verification, select=select, ignore=ignore, jobs=jobs)
        try:
            change = Change(name, build_artifact(analysis, environment, head, head))
        except BotError as error:
            change = Change(name, Artifact({}, b""), str(error))
        yield change


def write_changes(changes: Iterable[Change], folder: str) -> str:
    """Write the artifact of each group to a folder, and return their digest.

    Raises:
        BotError: a group has no patch.

    """
    names = []
    for change in changes:
        if change.problem:
            raise BotError(f"{change.group}: {change.problem}")
        artifacts.write(change.artifact, os.path.join(folder, change.group))
        names.append(change.group)
    return _digest(folder, names)


def read_changes(folder: str, digest: str, settings: BotSettings, environment: CIEnvironment) -> list[Change]:
    """Read the artifacts that :func:`write_changes` wrote.

    Raises:
        BotError: they are others, belong to another repository, or a group is missing.

    """
    names = [name for name, _, _ in groups(settings)]
    if _digest(folder, names) != digest:
        raise BotError(f"{folder} is not what devfix bot open --artifact wrote: its digest is another one")
    changes = [Change(name, artifacts.read(os.path.join(folder, name))) for name in names]
    for change in changes:
        repository = change.artifact["repository"]
        if repository.lower() != environment.repository.lower():
            raise BotError(f"the artifact belongs to {repository}, not to {environment.repository}")
    return changes


def _digest(folder: str, names: Iterable[str]) -> str:
    lines = (f"{name} {artifacts.read_digest(os.path.join(folder, name))}\n" for name in sorted(names))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def propose_all(
    changes: Iterable[Change], settings: BotSettings, forge: Forge, token: Token, *, dry_run: bool = False
) -> Iterator[str]:
    """Open, update or close the bot's pull requests.

    Args:
        changes: the patch of each group.
        settings: limits, labels and author.
        forge: the forge.
        token: the token for ``git push``.
        dry_run: whether to push nothing.

    Yields:
        One line for each group.

    Raises:
        BotError: one or more groups failed; all groups were attempted.

    """
    base = forge.default_branch()
    ours = {pull.head_branch: pull for pull in forge.open_pulls() if templates.fingerprint(pull.body)[0]}
    branches, errors = set(), []
    for change in changes:
        name, branch = change.group, change.branch
        branches.add(branch)
        try:
            if change.problem:
                raise BotError(change.problem)
            if not change.artifact.paths:
                yield _close_obsolete(forge, token, ours.get(branch), f"{name}: nothing to fix", dry_run)
                continue
            yield _propose(change, base, settings, forge, token, list(ours.values()), dry_run)
        except Skipped as reason:
            yield f"{name}: skipped: {reason}"
        except BotError as error:
            errors.append(f"{name}: {error}")
        else:
            if branch not in ours:
                ours[branch] = _unlisted_pull(change, base)
    for branch, pull in ours.items():
        if branch.startswith(PREFIX) and branch not in branches:
            why = f"{branch.removeprefix(PREFIX)}: the group is no longer configured"
            try:
                yield _close_obsolete(forge, token, pull, why, dry_run)
            except BotError as error:
                errors.append(f"{why}: {error}")
    if errors:
        raise BotError("; ".join(errors))


def _check_checkout(base: str) -> None:
    """Raise ``BotError`` if the checkout is at another commit than the base branch."""
    git = Git(os.getcwd(), user_checkout=True)
    try:
        local = git("rev-parse", "HEAD").strip()
        remote = git("rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{base}").strip()
    except GitError:
        local = remote = ""
    if local and remote and local != remote:
        raise BotError(
            f"this checkout is at {local[:12]}, but {base} is at {remote[:12]}: run devfix bot open on {base}"
        )


def _head() -> str:
    try:
        return Git(os.getcwd(), user_checkout=True)("rev-parse", "HEAD").strip()
    except GitError as error:
        raise BotError(str(error)) from error


def _propose(
    change: Change,
    base: str,
    settings: BotSettings,
    forge: Forge,
    token: Token,
    ours: list[PullRequest],
    dry_run: bool,
) -> str:
    pulls = forge.pulls_from_branch(change.branch)
    existing = next((pull for pull in pulls if pull.state == "open"), None)
    if existing is not None:
        raise_if_stopped(existing, forge.comments(existing.number))
    else:
        refuse_reproposal(pulls, change.patch)
        _check_limits(settings, ours, forge)
    if not dry_run:
        message = f"{change.title}\n\n{_fixed_list(change)}"
        remote = Remote(forge.clone_url(change.artifact["repository"]), token)
        remote.push(
            Commit(change.artifact["head"], change.artifact.patch, message, settings.author, f"bot {change.branch}"),
            change.branch,
            is_bot_branch=True,
        )
    proposal = Proposal(change.branch, base, change.title, change.body, settings.draft, settings.labels)
    found = propose(forge, existing, proposal)
    if found.problem:
        raise BotError(found.problem)
    number, done = found.number, found.done
    return f"{change.group}: #{number} {done}" if done.startswith("is") else f"{change.group}: {done} #{number}"


def _fixed_list(change: Change) -> str:
    fixed = [item for item in change.artifact["findings"] if item["status"] == "fixed"]
    return "\n".join(
        list_item(f"{item['path']}:{item['line']} {item['code']} {item['message']}") for item in fixed[:50]
    )


def _check_limits(settings: BotSettings, ours: list[PullRequest], forge: Forge) -> None:
    if len(ours) >= settings.max_open:
        raise Skipped(f"{len(ours)} pull requests are open; max-open is {settings.max_open}")
    hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
    recent = [pull for pull in forge.pulls_since(hour_ago) if templates.fingerprint(pull.body)[0]]
    known = {pull.head_branch for pull in recent}  # a new pull request may not be listed yet
    count = len(recent) + sum(pull.created > hour_ago and pull.head_branch not in known for pull in ours)
    if count >= settings.max_hourly:
        raise Skipped(f"{count} pull requests were opened within the last hour; max-hourly is {settings.max_hourly}")


def _close_obsolete(forge: Forge, token: Token, pull: PullRequest | None, why: str, dry_run: bool) -> str:
    """Close a pull request and delete its branch, unless somebody else pushed to it."""
    if pull is None:
        return why
    remote = Remote(forge.clone_url(pull.head_repository), token)
    try:
        raise_if_stopped(pull, forge.comments(pull.number))
        tip = "" if dry_run else remote.own_tip(pull.head_branch, f"bot {pull.head_branch}")
    except Skipped as reason:
        return f"{why}, but skipped: {reason}"
    forge.close_pull(pull.number, f"Closed, because nothing is left to fix ({why}).")
    if tip:
        remote.delete(pull.head_branch, tip)
    return f"{why}: closed #{pull.number}"


def _unlisted_pull(change: Change, base: str) -> PullRequest:
    """Return a pull request that was just opened, or would be in a dry run, to count it in limits."""
    now = datetime.now(timezone.utc)
    return PullRequest(0, change.title, change.body, "open", "", change.branch, "", "", base, (), now, "")
