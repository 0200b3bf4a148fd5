"""GitHub, through githubkit: rate limits and retries are its own, with an end to patience."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any
from urllib.parse import quote

import httpx
from githubkit import GitHub, TokenAuthStrategy, UnauthAuthStrategy
from githubkit.exception import GitHubException, RateLimitExceeded, RequestError, RequestFailed
from githubkit.retry import RetryChainDecision, RetryOption, RetryServerError

from devfix.bot.diff_lines import lines_of_patch
from devfix.bot.forge import LONGEST_WAIT_S, Pull, Remark, Tell, tell_call
from devfix.bot.skip_reasons import BotError
from devfix.bot.suggestions import Suggestion
from devfix.vcs.redaction import redacted

__all__ = ["GitHubHost"]

_MOST_RETRIES = 3
_TIMEOUT_S = 60.0
_MARKERS = "<!-- devfix:"

logging.getLogger("githubkit").addHandler(logging.NullHandler())  # what is wrong is told once, without a traceback


class GitHubHost:
    """One repository on GitHub.

    Args:
        api: the address of the API, as in ``GITHUB_API_URL``.
        repository: ``owner/name``.
        token: empty for none, with which public repositories can be read.
        dry_run: writes are told, and not sent.
        tell: is told of every call in a dry run.

    """

    def __init__(self, api: str, repository: str, token: str, dry_run: bool, tell: Tell) -> None:
        self._repository = repository
        self._owner, _, self._name = repository.partition("/")
        self._github: GitHub[Any] = GitHub(
            TokenAuthStrategy(token) if token else UnauthAuthStrategy(),
            base_url=api,
            timeout=_TIMEOUT_S,
            http_cache=False,
            auto_retry=RetryChainDecision(_rate_limit, RetryServerError()),
            transport=_Transport(tell) if dry_run else None,
        )
        self._github.__enter__()  # type: ignore[no-untyped-call]  # one connection for all calls; it has no types
        self._rest = self._github.rest
        self._login: str | None = None  # of whom the token belongs to; not asked yet

    def end(self) -> None:
        self._github.__exit__(None, None, None)

    # --- reads
    def pull(self, number: int) -> Pull:
        with _told(f"pull request #{number}"):
            return _pull(self._rest.pulls.get(self._owner, self._name, pull_number=number).json())

    def open_pulls(self) -> list[Pull]:
        with _told("pull requests"):
            found = [_pull(each) for each in self._all(self._rest.pulls.list, state="open")]
        return [pull for pull in found if pull.head_repository.lower() == self._repository.lower()]

    def pulls_of(self, branch: str) -> list[Pull]:
        with _told(f"pull requests of {branch}"):
            head = f"{self._owner}:{branch}"
            found = [_pull(each) for each in self._all(self._rest.pulls.list, state="all", head=head)]
        return sorted((pull for pull in found if pull.head_branch == branch), key=lambda pull: -pull.number)

    def pulls_since(self, moment: datetime) -> list[Pull]:
        with _told("pull requests"):
            newest_first = self._each(self._rest.pulls.list, state="all", sort="created", direction="desc")
            found = list(takewhile(lambda pull: pull.created > moment, map(_pull, newest_first)))
        return [pull for pull in found if pull.head_repository.lower() == self._repository.lower()]

    def default_branch(self) -> str:
        with _told("the repository"):
            return str(self._rest.repos.get(self._owner, self._name).json()["default_branch"])

    def content(self, path: str, revision: str) -> bytes | None:
        owner, name = self._owner, self._name
        with _told(path):
            try:
                found: Any = self._rest.repos.get_content(owner=owner, repo=name, path=quote(path), ref=revision).json()
            except RequestFailed as error:
                if error.response.status_code == 404:
                    return None
                raise
            if not isinstance(found, dict) or found.get("type") != "file":
                raise BotError(f"{path} is not a regular file in {revision[:12]}")
            if found.get("encoding") == "base64":
                return base64.b64decode(found["content"])
            blob = self._rest.git.get_blob(owner=owner, repo=name, file_sha=found["sha"]).json()  # beyond 1 MB
            return base64.b64decode(blob["content"])

    def shown_lines(self, number: int) -> Mapping[str, set[int]]:
        with _told(f"files of #{number}"):
            files = self._all(self._rest.pulls.list_files, pull_number=number)
        return {file["filename"]: lines_of_patch(file.get("patch") or "") for file in files}

    def talk(self, number: int) -> list[Remark]:
        with _told(f"comments of #{number}"):
            found = self._all(self._rest.issues.list_comments, issue_number=number)
            return [self._remark(each) for each in found]

    def reviews(self, number: int) -> list[Remark]:
        with _told(f"reviews of #{number}"):
            found = self._all(self._rest.pulls.list_reviews, pull_number=number)
            return [self._remark(each) for each in found]

    def inline(self, number: int) -> list[Remark]:
        with _told(f"comments at lines of #{number}"):
            found = self._all(self._rest.pulls.list_review_comments, pull_number=number)
            return [self._remark(each) for each in found]

    def clone_url(self, repository: str) -> str:
        owner, _, name = repository.partition("/")
        with _told(repository):
            return str(self._rest.repos.get(owner=owner, repo=name).json()["clone_url"])

    # --- writes
    def worded(self, offered: Suggestion) -> str:
        return offered.body()

    def review(self, pull: Pull, body: str, offered: Sequence[Suggestion]) -> None:
        comments = [_comment(each) for each in offered]
        with _told(f"a review of #{pull.number}"):
            self._rest.pulls.create_review(
                self._owner,
                self._name,
                pull_number=pull.number,
                commit_id=pull.head,
                event="COMMENT",
                body=body,
                comments=comments,
            )

    def edit_review(self, number: int, remark: Remark, body: str) -> None:
        with _told(f"the review of #{number}"):
            self._rest.pulls.update_review(
                self._owner, self._name, pull_number=number, review_id=int(remark.id), body=body
            )

    def edit_inline(self, number: int, remark: Remark, body: str) -> None:
        with _told(f"a comment of #{number}"):
            self._rest.pulls.update_review_comment(self._owner, self._name, comment_id=int(remark.id), body=body)

    def open(self, branch: str, base: str, title: str, body: str, draft: bool) -> int:
        with _told(f"a pull request from {branch}"):
            made = self._rest.pulls.create(
                self._owner, self._name, head=branch, base=base, title=title, body=body, draft=draft
            )
            return int(made.json()["number"])

    def edit(self, number: int, title: str, body: str) -> None:
        with _told(f"pull request #{number}"):
            self._rest.pulls.update(self._owner, self._name, pull_number=number, title=title, body=body)

    def label(self, number: int, labels: Sequence[str]) -> None:
        with _told(f"labels of #{number}"):
            self._rest.issues.add_labels(self._owner, self._name, issue_number=number, labels=list(labels))

    def close(self, number: int, comment: str) -> None:
        with _told(f"pull request #{number}"):
            self._rest.issues.create_comment(self._owner, self._name, issue_number=number, body=comment)
            self._rest.pulls.update(self._owner, self._name, pull_number=number, state="closed")

    def delete_branch(self, branch: str) -> None:
        with _told(f"branch {branch}"):
            try:
                self._rest.git.delete_ref(self._owner, self._name, f"heads/{branch}")
            except RequestFailed as error:
                if error.response.status_code not in (404, 422):  # it is gone already
                    raise

    def _remark(self, found: Mapping[str, Any]) -> Remark:
        body, author = str(found.get("body") or ""), found.get("user") or {}
        login = str(author.get("login") or "")
        return Remark(str(found["id"]), body, login, _MARKERS in body and self._is_mine(author))

    def _is_mine(self, author: Mapping[str, Any]) -> bool:
        """Whether an author is who this token belongs to. Anybody can write a marker, and only ours are edited."""
        if self._login is None:
            try:
                self._login = str(self._rest.users.get_authenticated().json()["login"])
            except RequestFailed:  # the token of a job belongs to an app, which may not ask
                self._login = ""
        return author.get("login") == self._login if self._login else author.get("type") == "Bot"

    def _all(self, method: Callable[..., Any], **given: Any) -> list[dict[str, Any]]:
        """All pages."""
        return list(self._each(method, **given))

    def _each(self, method: Callable[..., Any], **given: Any) -> Iterator[dict[str, Any]]:
        """One after the other; a page is asked for when it is needed."""
        return iter(self._rest.paginate(method, _listed, self._owner, self._name, per_page=100, **given))


class _Transport(httpx.HTTPTransport):
    """Tells of every call, and sends those that only read."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reads = request.method in ("GET", "HEAD")
        tell_call(self._tell, request.method, str(request.url), request.read(), sent=reads)
        if reads:
            return super().handle_request(request)
        return httpx.Response(200, json={"number": 0, "id": 0}, request=request)


def _listed(response: Any) -> list[dict[str, Any]]:
    return list(response.json())


def _rate_limit(error: GitHubException, retries: int) -> RetryOption:
    """Wait as long as GitHub asks for, where that is not too long."""
    patient = isinstance(error, RateLimitExceeded) and error.retry_after <= timedelta(seconds=LONGEST_WAIT_S)
    if patient and retries < _MOST_RETRIES and isinstance(error, RateLimitExceeded):
        return RetryOption(do_retry=True, retry_after=error.retry_after)
    return RetryOption(do_retry=False)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """An answer that is an error becomes one line."""
    try:
        yield
    except RateLimitExceeded as error:
        minutes = error.retry_after.total_seconds() / 60
        raise BotError(
            f"GitHub: {what}: too many requests; it asks to wait {minutes:.0f} min: run again then"
        ) from error
    except RequestFailed as error:
        raise BotError(f"GitHub: {what}: {error.response.status_code} {_said(error)}") from error
    except RequestError as error:
        raise BotError(redacted(f"GitHub: {what}: no connection: {error.exc}")) from error
    except GitHubException as error:
        raise BotError(redacted(f"GitHub: {what}: {error!r}")) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise BotError(f"GitHub: {what}: the answer is none of GitHub's API (is GITHUB_API_URL right?)") from error


_HINTS = {
    401: "is the token valid?",
    403: "has the token the permissions of docs/bot.md?",
    404: "may the token see it?",
}


def _said(error: RequestFailed) -> str:
    try:
        document = error.response.json()
    except ValueError:
        document = {}
    message = str(document.get("message") or "") if isinstance(document, dict) else ""
    details = document.get("errors") if isinstance(document, dict) else None
    more = "; ".join(
        str(each.get("message") or each.get("code") or each) if isinstance(each, dict) else str(each)
        for each in details or ()
    )
    hint = _HINTS.get(error.response.status_code, "")
    return redacted(
        " ".join(part for part in (message, f"({more})" if more else "", f"({hint})" if hint else "") if part)
    )


def _comment(offered: Suggestion) -> dict[str, Any]:
    comment: dict[str, Any] = {"path": offered.path, "body": offered.body(), "line": offered.last, "side": "RIGHT"}
    if offered.first < offered.last:
        comment.update(start_line=offered.first, start_side="RIGHT")
    return comment


def _pull(found: Mapping[str, Any]) -> Pull:
    head, base = found["head"], found["base"]
    merged = found.get("merged_at") is not None
    return Pull(
        number=int(found["number"]),
        title=str(found["title"]),
        body=str(found.get("body") or ""),
        state="merged" if merged else str(found["state"]),
        head=str(head["sha"]),
        head_branch=str(head["ref"]),
        head_repository=str((head.get("repo") or {}).get("full_name") or ""),
        base=str(base["sha"]),
        base_branch=str(base["ref"]),
        labels=tuple(str(label["name"]) for label in found.get("labels") or ()),
        created=datetime.fromisoformat(str(found["created_at"]).replace("Z", "+00:00")),
        url=str(found.get("html_url") or ""),
    )
