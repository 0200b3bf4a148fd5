"""Pull requests of migrated repositories (:mod:`devfix.migrate.proposing` loads this module by name)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from devfix.bot import templates
from devfix.bot.analysis import evidence
from devfix.bot.branches import Proposal, check_can_propose, parse_forge_url, propose, refuse_reproposal
from devfix.bot.connect import connected
from devfix.bot.environment import CIEnvironment, Token, read_token
from devfix.bot.forge import Forge, PullRequest, raise_if_stopped
from devfix.bot.forks.fork import Fork
from devfix.bot.push import Remote
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.migrate.changes import Change, ChangeState
from devfix.migrate.proposing import ForgeError, MergeMethod, Opened, Progress, Refused
from devfix.migrate.record import Record
from devfix.vcs import hunks
from devfix.vcs.commits import Commit, list_item
from devfix.vcs.redaction import redacted

__all__ = ["HostedForges"]

_MAX_LISTED = 50  # fixes in a commit message


class HostedForges:
    """Implements :class:`devfix.migrate.proposing.Forges` for GitHub, GitLab, Gitea and Forgejo."""

    def __init__(self) -> None:
        self._servers: dict[str, str] = {}  # token → the server that gets it

    def check(self, source: str) -> None:
        """Check that there is a token for the forge of a repository."""
        with _translated_errors():
            check_can_propose(source)
            self._token(parse_forge_url(source, os.environ))

    def open(self, record: Record, change: Change) -> Opened:
        """Push the patch and open the pull request, or update the open one."""
        with self._connected(record) as (environment, forge):
            patch = record.patch.encode("utf-8", "surrogateescape")
            fingerprint = hashlib.sha256(patch).hexdigest()
            fork = _fork(forge, change)
            pulls = forge.pulls_from_branch(change.branch, fork.repository)
            existing = next((pull for pull in pulls if pull.state == "open"), None)
            if existing is not None:
                raise_if_stopped(existing, forge.comments(existing.number))
            else:
                refuse_reproposal(pulls, fingerprint)
            body = templates.pull_request(
                _manifest(record, change), _group(change.branch), fingerprint, patch.decode("utf-8", "replace")
            )
            message = f"{change.message}\n\n{_fixed_list(record)}"
            remote = _remote(forge, environment, fork, self._token(environment))
            commit = Commit(record.commit, patch, message, change.author, change.owner)
            pushed = remote.push(commit, change.branch, is_bot_branch=True)
            proposal = Proposal(
                change.branch,
                _base(record, forge),
                change.message,
                body,
                change.draft,
                change.labels,
                change.reviewers,
                fork.repository,
            )
            found = propose(forge, existing, proposal)
            return Opened(forge.pull(found.number).url, pushed, fork.repository, redacted(found.problem))

    def progress(self, record: Record, change: Change) -> Progress:
        """Return the state of a pull request."""
        with self._connected(record) as (_, forge):
            pull = _pull(forge, change)
            state = ChangeState(pull.state)
            if state is not ChangeState.OPEN:
                return Progress(state)
            return Progress(state, forge.checks(pull), forge.decision(pull.number), pull.draft)

    def merge(self, record: Record, change: Change, method: MergeMethod) -> None:
        """Merge a pull request."""
        with self._connected(record) as (_, forge):
            pull = _pull(forge, change)
            raise_if_stopped(pull, forge.comments(pull.number))
            if pull.head != change.commit:
                raise Refused("somebody else pushed to its branch: look at it, and merge it yourself")
            if pull.draft:
                raise Refused("it is a draft: mark it as ready, or set draft = false in the plan")
            try:
                forge.merge_pull(pull, method)
            except BotError as error:  # checks or reviews are missing, or there is a conflict
                raise Refused(str(error)) from error

    def close(self, record: Record, change: Change, comment: str) -> None:
        """Comment, close the pull request, and delete its branch."""
        with self._connected(record) as (_, forge):
            pull = _pull(forge, change)
            raise_if_stopped(pull, forge.comments(pull.number))
            if pull.state == "open":
                forge.close_pull(pull.number, comment)
            if pull.state != "merged" and pull.head == change.commit:
                forge.delete_branch(change.branch, change.repository)

    @contextmanager
    def _connected(self, record: Record) -> Iterator[tuple[CIEnvironment, Forge]]:
        with _translated_errors():
            environment = parse_forge_url(record.repository, os.environ)
            with connected(environment, self._token(environment), dry_run=False) as forge:
                yield environment, forge

    def _token(self, environment: CIEnvironment) -> Token:
        """Return the token for a forge; no other server of the plan gets it."""
        token = read_token(environment.kind, os.environ)
        server = self._servers.setdefault(token.value, environment.api) if token.value else environment.api
        if server != environment.api:
            raise BotError(
                f"the token for {server} is not sent to {environment.api}: set one for each (GITHUB_TOKEN,"
                " GITLAB_TOKEN, GITEA_TOKEN), or use one plan for each"
            )
        return token


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except Skipped as error:
        raise Refused(redacted(str(error))) from error
    except BotError as error:
        raise ForgeError(redacted(str(error))) from error
    except ModuleNotFoundError as error:
        raise ForgeError(f"pull requests need {error.name}: pip install 'devfix[bot]'") from error


def _pull(forge: Forge, change: Change) -> PullRequest:
    number = change.url.rstrip("/").rpartition("/")[2]
    if not number.isdecimal():
        raise BotError(f"{change.url or 'an empty URL'} is not the address of a pull request")
    return forge.pull(int(number))


def _fork(forge: Forge, change: Change) -> Fork:
    """Return the fork that has the branch, or shall have it; its repository is empty if no fork is needed."""
    if change.url:
        return Fork(change.repository)
    if change.fork == "always" or (change.fork == "auto" and not forge.can_push()):
        return forge.fork(change.fork_owner)
    return Fork("")


def _remote(forge: Forge, environment: CIEnvironment, fork: Fork, token: Token) -> Remote:
    """Return the repository that gets the branch."""
    own = forge.clone_url(environment.repository)
    if not fork.repository:
        return Remote(own, token)
    return Remote(forge.clone_url(fork.repository), token, source=own, is_new=fork.is_new)


def _group(branch: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in branch.lower())


def _base(record: Record, forge: Forge) -> str:
    """Return the target branch; a plan may also name a tag or a commit, which have none."""
    return record.ref if record.ref and record.ref != record.commit else forge.default_branch()


def _fixed_list(record: Record) -> str:
    fixed = [finding for finding in record.findings if finding["status"] == "fixed"]
    return "\n".join(
        list_item(f"{item['path']}:{item['span']['line']} {item['code']} {item['message']}")
        for item in fixed[:_MAX_LISTED]
    )


def _manifest(record: Record, change: Change) -> dict[str, Any]:
    """Return what :func:`devfix.bot.templates.pull_request` shows, as in schema/artifact-2.json."""
    return {
        "tool": f"devfix {record.tool}",
        "base": record.commit,
        "files": [{"path": file.path} for file in hunks.read(record.patch)],
        "findings": [_finding(item) for item in record.findings if item["status"] != "suppressed"],
        "problems": [{key: each[key] for key in ("path", "line", "message")} for each in record.problems],
        "evidence": None if record.verdict is None else evidence(record.verdict),
        "not_verified": "the plan has no script that verifies it",
        "scope": None if change.owners is None else {"owners": list(change.owners), "parts": len(record.parts)},
    }


def _finding(item: Mapping[str, Any]) -> dict[str, Any]:
    fix = item["fix"] or {"title": "", "applicability": None}
    shared = {key: item[key] for key in ("code", "name", "status", "path", "message")}
    return {**shared, **fix, "line": item["span"]["line"], "reason": item["reason"] or ""}
