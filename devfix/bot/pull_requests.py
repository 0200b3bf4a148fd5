"""Pull requests of the bot's own: one for each group of rules, kept up to date, and closed when it is not needed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from devfix.bot import templates
from devfix.bot.analysis import analyse
from devfix.bot.artifact import Artifact, manifest
from devfix.bot.branches import Proposal, propose, refuse_again
from devfix.bot.environment import Surroundings, Token
from devfix.bot.forge import Host, Pull, stopped
from devfix.bot.push import Commit, Remote
from devfix.bot.settings import BotSettings
from devfix.bot.skip_reasons import BotError, LeftAlone
from devfix.vcs.git import Git, GitError

__all__ = ["PREFIX", "groups", "open_all"]

PREFIX = "devfix/"
_REST = "device"


@dataclass(frozen=True)
class _Change:
    """One group's patch, as it would be proposed."""

    group: str
    artifact: Artifact

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
    """Name, selected and ignored rules of each group; the last one has what the others leave."""
    for name, codes in settings.groups.items():
        yield name, codes, ()
    yield _REST, (), tuple(code for codes in settings.groups.values() for code in codes)


def open_all(
    around: Surroundings, settings: BotSettings, host: Host, token: Token, *, dry_run: bool = False, jobs: int = 1
) -> Iterator[str]:
    """Bring the bot's pull requests up to date with the checkout in the current folder; one line for each group.

    Raises:
        BotError: something is wrong; what was done until then stays, and every other group has had its turn.

    """
    base = host.default_branch()
    head = _tip(base)
    ours = {pull.head_branch: pull for pull in host.open_pulls() if templates.fingerprint(pull.body)[0]}
    wanted, troubles = set(), []
    for name, select, ignore in groups(settings):
        analysis = analyse(settings.paths, settings.verification, select=select, ignore=ignore, jobs=jobs)
        branch = PREFIX + name
        wanted.add(branch)
        try:
            if not analysis.files:
                yield _obsolete(host, ours.get(branch), f"{name}: nothing to repair")
                continue
            change = _Change(name, manifest(analysis, around, head, head))
            yield _proposed(change, base, settings, host, token, list(ours.values()), dry_run)
        except LeftAlone as reason:
            yield f"{name}: left alone: {reason}"
        except BotError as error:
            troubles.append(f"{name}: {error}")
        else:
            if branch not in ours:
                ours[branch] = _placeholder(change, base)
    for branch, pull in ours.items():
        if branch.startswith(PREFIX) and branch not in wanted:
            yield _obsolete(host, pull, f"{branch.removeprefix(PREFIX)}: no such group any more")
    if troubles:
        raise BotError("; ".join(troubles))


def _tip(base: str) -> str:
    """The commit of the checkout, which has to be the base's."""
    git = Git(os.getcwd(), own=True)
    try:
        here = git("rev-parse", "HEAD").strip()
        there = git("rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{base}").strip()
    except GitError:
        there = here = ""
    if here and there and here != there:
        raise BotError(f"this checkout is at {here[:12]}, and {base} at {there[:12]}: run devfix bot open on {base}")
    return here or _head(git)


def _head(git: Git) -> str:
    try:
        return git("rev-parse", "HEAD").strip()
    except GitError as error:
        raise BotError(str(error)) from error


def _proposed(
    change: _Change,
    base: str,
    settings: BotSettings,
    host: Host,
    token: Token,
    ours: list[Pull],
    dry_run: bool,
) -> str:
    known = host.pulls_of(change.branch)
    present = next((pull for pull in known if pull.state == "open"), None)
    if present is not None:
        stopped(present, host.talk(present.number))
    else:
        refuse_again(known, change.patch)
        _keep_to_limits(settings, ours, host)
    if not dry_run:
        message = f"{change.title}\n\n{_told(change)}"
        remote = Remote(host.clone_url(change.artifact["repository"]), token)
        remote.push(
            Commit(change.artifact["head"], change.artifact.patch, message, settings.author), change.branch, ours=True
        )
    proposal = Proposal(change.branch, base, change.title, change.body, settings.draft, settings.labels)
    number, done = propose(host, present, proposal)
    return f"{change.group}: #{number} {done}" if done.startswith("is") else f"{change.group}: {done} #{number}"


def _told(change: _Change) -> str:
    fixed = [item for item in change.artifact["findings"] if item["status"] == "fixed"]
    return "\n".join(f"- {item['path']}:{item['line']} {item['code']} {item['message']}" for item in fixed[:50])


def _keep_to_limits(settings: BotSettings, ours: list[Pull], host: Host) -> None:
    if len(ours) >= settings.max_open:
        raise LeftAlone(f"{len(ours)} pull requests are open, and max-open is {settings.max_open}")
    hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
    recent = [pull for pull in host.pulls_since(hour_ago) if templates.fingerprint(pull.body)[0]]
    known = {pull.head_branch for pull in recent}  # the host may not tell at once of one that was just opened
    many = len(recent) + sum(pull.created > hour_ago and pull.head_branch not in known for pull in ours)
    if many >= settings.max_hourly:
        raise LeftAlone(f"{many} were opened within the last hour, and max-hourly is {settings.max_hourly}")


def _obsolete(host: Host, pull: Pull | None, why: str) -> str:
    if pull is None:
        return why
    try:
        stopped(pull, host.talk(pull.number))
    except LeftAlone as reason:
        return f"{why}, but left alone: {reason}"
    host.close(pull.number, f"There is nothing left for this to repair ({why}), so it is closed.")
    host.delete_branch(pull.head_branch)
    return f"{why}: closed #{pull.number}"


def _placeholder(change: _Change, base: str) -> Pull:
    """What was opened, or would be in a dry run, as far as limits count it."""
    now = datetime.now(timezone.utc)
    return Pull(0, change.title, change.body, "open", "", change.branch, "", "", base, (), now, "")
