"""GitHub client; githubkit retries, the total wait is capped."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from itertools import takewhile
from typing import Any
from urllib.parse import quote

import httpx
from githubkit import GitHub, TokenAuthStrategy, UnauthAuthStrategy
from githubkit.exception import GitHubException, RateLimitExceeded, RequestError, RequestFailed
from githubkit.retry import RetryChainDecision, RetryOption, RetryServerError

from devfix.bot.diff_lines import visible_lines
from devfix.bot.discovery import HostedRepository
from devfix.bot.forge import LONGEST_WAIT_S, Account, CallLog, Comment, PullRequest
from devfix.bot.forks.fork import Fork
from devfix.bot.forks.github import find_or_create
from devfix.bot.patch import MAX_FILE_BYTES
from devfix.bot.skip_reasons import BotError
from devfix.bot.suggestions import Suggestion
from devfix.bot.transport import VIEWER, BoundedTransport, DryRunTransport
from devfix.migrate.proposing import MergeMethod
from devfix.site import page_url
from devfix.vcs.redaction import redacted

__all__ = ["GitHubForge", "repositories_of"]

_MAX_RETRIES = 3
_TIMEOUT_S = 60.0
_APP_SUFFIX = "[bot]"  # of the logins of apps in answers of REST
_FAILED_CHECKS = {"failure", "timed_out", "cancelled", "action_required", "error", "startup_failure", "stale"}

logging.getLogger("githubkit").addHandler(logging.NullHandler())  # errors are printed once, without a traceback


class GitHubForge:
    """One repository on GitHub.

    Args:
        api: the address of the API, as in ``GITHUB_API_URL``.
        repository: ``owner/name``.
        token: the token; empty for anonymous reads of public repositories.
        dry_run: whether to print all calls, and send only those that read.
        log: prints a call in a dry run.

    """

    def __init__(self, api: str, repository: str, token: str, dry_run: bool, log: CallLog) -> None:
        self._repository = repository
        self._owner, _, self._name = repository.partition("/")
        self._github = _client(api, token, DryRunTransport(api, log) if dry_run else None)
        self._github.__enter__()  # type: ignore[no-untyped-call]  # share one connection; githubkit has no types here
        self._rest = self._github.rest
        self._is_anonymous = not token
        self._account = Account(self._request_login, self._is_app)

    def disconnect(self) -> None:
        self._github.__exit__(None, None, None)

    # --- reads
    def pull(self, number: int) -> PullRequest:
        with _one_line_errors(f"pull request #{number}"):
            return _pull(self._rest.pulls.get(self._owner, self._name, pull_number=number).json())

    def open_pulls(self) -> list[PullRequest]:
        with _one_line_errors("pull requests"):
            found = [_pull(each) for each in self._all(self._rest.pulls.list, state="open")]
        return [pull for pull in found if pull.head_repository.lower() == self._repository.lower()]

    def pulls_from_branch(self, branch: str, fork: str = "") -> list[PullRequest]:
        with _one_line_errors(f"pull requests of {branch}"):
            head = f"{fork.partition('/')[0] or self._owner}:{branch}"
            found = [_pull(each) for each in self._all(self._rest.pulls.list, state="all", head=head)]
        return sorted((pull for pull in found if pull.head_branch == branch), key=lambda pull: -pull.number)

    def pulls_since(self, moment: datetime) -> list[PullRequest]:
        with _one_line_errors("pull requests"):
            newest_first = self._iterate(self._rest.pulls.list, state="all", sort="created", direction="desc")
            found = list(takewhile(lambda pull: pull.created > moment, map(_pull, newest_first)))
        return [pull for pull in found if pull.head_repository.lower() == self._repository.lower()]

    def default_branch(self) -> str:
        with _one_line_errors("the repository"):
            return str(self._rest.repos.get(self._owner, self._name).json()["default_branch"])

    def account(self) -> str:
        return self._account.login()

    def can_push(self) -> bool:
        with _one_line_errors("the repository"):
            found: Any = self._rest.repos.get(self._owner, self._name).json()
            return bool((found.get("permissions") or {}).get("push", True))  # if GitHub does not tell, the push does

    def read_file(self, path: str, revision: str) -> bytes | None:
        owner, name = self._owner, self._name
        with _one_line_errors(path):
            try:
                found: Any = self._rest.repos.get_content(owner=owner, repo=name, path=quote(path), ref=revision).json()
            except RequestFailed as error:
                if error.response.status_code == 404:
                    return None
                raise
            if not isinstance(found, dict) or found.get("type") != "file":
                raise BotError(f"{path} is not a regular file in {revision[:12]}")
            if found["size"] > MAX_FILE_BYTES:
                raise BotError(f"{path} has {found['size']} bytes in {revision[:12]}; the limit is {MAX_FILE_BYTES}")
            if found.get("encoding") == "base64":
                return base64.b64decode(found["content"])
            blob = self._rest.git.get_blob(owner=owner, repo=name, file_sha=found["sha"]).json()  # above 1 MB
            return base64.b64decode(blob["content"])

    def visible_lines(self, number: int) -> Mapping[str, set[int]]:
        with _one_line_errors(f"files of #{number}"):
            files = self._all(self._rest.pulls.list_files, pull_number=number)
        return {file["filename"]: visible_lines(file.get("patch") or "") for file in files}

    def comments(self, number: int) -> list[Comment]:
        with _one_line_errors(f"comments of #{number}"):
            found = self._all(self._rest.issues.list_comments, issue_number=number)
            return [self._account.read_comment(each) for each in found]

    def reviews(self, number: int) -> list[Comment]:
        with _one_line_errors(f"reviews of #{number}"):
            found = self._all(self._rest.pulls.list_reviews, pull_number=number)
            return [self._account.read_comment(each) for each in found]

    def inline_comments(self, number: int) -> list[Comment]:
        with _one_line_errors(f"inline comments of #{number}"):
            found = self._all(self._rest.pulls.list_review_comments, pull_number=number)
            return [self._account.read_comment(each) for each in found]

    def clone_url(self, repository: str) -> str:
        owner, _, name = repository.partition("/")
        with _one_line_errors(repository):
            return str(self._rest.repos.get(owner=owner, repo=name).json()["clone_url"])

    # --- writes
    def format_suggestion(self, suggestion: Suggestion) -> str:
        return suggestion.body()

    def post_review(self, pull: PullRequest, body: str, suggestions: Sequence[Suggestion]) -> None:
        comments = [_suggestion_comment(each) for each in suggestions]
        with _one_line_errors(f"a review of #{pull.number}"):
            self._rest.pulls.create_review(
                self._owner,
                self._name,
                pull_number=pull.number,
                commit_id=pull.head,
                event="COMMENT",
                body=body,
                comments=comments,
            )

    def edit_review(self, number: int, comment: Comment, body: str) -> None:
        with _one_line_errors(f"the review of #{number}"):
            self._rest.pulls.update_review(
                self._owner, self._name, pull_number=number, review_id=int(comment.id), body=body
            )

    def edit_inline_comment(self, number: int, comment: Comment, body: str) -> None:
        with _one_line_errors(f"a comment of #{number}"):
            self._rest.pulls.update_review_comment(self._owner, self._name, comment_id=int(comment.id), body=body)

    def remove_review(self, number: int, comment: Comment) -> None:
        """Empty a review: GitHub does not delete submitted ones."""
        self.edit_review(number, comment, "*Posted twice at the same time: see the other review.*")

    def remove_inline_comment(self, number: int, comment: Comment) -> None:
        with _one_line_errors(f"a comment of #{number}"):
            self._rest.pulls.delete_review_comment(self._owner, self._name, comment_id=int(comment.id))

    def fork(self, owner: str) -> Fork:
        with _one_line_errors(f"a fork of {self._repository}"):
            return find_or_create(self._rest, self._repository, owner, self.account())

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool, fork: str = "") -> int:
        head = f"{fork.partition('/')[0]}:{branch}" if fork else branch
        with _one_line_errors(f"a pull request from {head}"):
            response = self._rest.pulls.create(
                self._owner, self._name, head=head, base=base, title=title, body=body, draft=draft
            )
            return int(response.json()["number"])

    def edit_pull(self, number: int, title: str, body: str) -> None:
        with _one_line_errors(f"pull request #{number}"):
            self._rest.pulls.update(self._owner, self._name, pull_number=number, title=title, body=body)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        with _one_line_errors(f"labels of #{number}"):
            self._rest.issues.add_labels(self._owner, self._name, issue_number=number, labels=list(labels))

    def request_reviews(self, number: int, reviewers: Sequence[str]) -> None:
        teams = [name.partition("/")[2] for name in reviewers if "/" in name]
        with _one_line_errors(f"reviewers of #{number}"):
            self._rest.pulls.request_reviewers(
                self._owner,
                self._name,
                pull_number=number,
                reviewers=[name for name in reviewers if "/" not in name],
                team_reviewers=teams,
            )

    def checks(self, pull: PullRequest) -> str:
        owner, name = self._owner, self._name
        with _one_line_errors(f"checks of #{pull.number}"):
            runs = self._rest.checks.list_for_ref(owner, name, ref=pull.head, per_page=100).json()["check_runs"]
            combined = self._rest.repos.get_combined_status_for_ref(owner, name, ref=pull.head).json()
        states = {str(run["conclusion"] or "running") for run in runs}
        if combined["total_count"]:  # without any, the state is "pending"
            states.add(str(combined["state"]))
        if states & _FAILED_CHECKS:
            return "failed"
        return "running" if states & {"running", "pending"} else "passed" if states else ""

    def decision(self, number: int) -> str:
        with _one_line_errors(f"reviews of #{number}"):
            found = self._all(self._rest.pulls.list_reviews, pull_number=number)
        latest = {
            str((review.get("user") or {}).get("login")): review["state"]
            for review in found
            if review["state"] in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
        }
        states = set(latest.values())
        return "changes requested" if "CHANGES_REQUESTED" in states else "approved" if "APPROVED" in states else ""

    def merge_pull(self, pull: PullRequest, method: MergeMethod) -> None:
        with _one_line_errors(f"pull request #{pull.number}"):
            self._rest.pulls.merge(self._owner, self._name, pull_number=pull.number, sha=pull.head, merge_method=method)

    def close_pull(self, number: int, comment: str) -> None:
        with _one_line_errors(f"pull request #{number}"):
            self._rest.issues.create_comment(self._owner, self._name, issue_number=number, body=comment)
            self._rest.pulls.update(self._owner, self._name, pull_number=number, state="closed")

    def delete_branch(self, branch: str, fork: str = "") -> None:
        owner, _, name = (fork or self._repository).partition("/")
        with _one_line_errors(f"branch {branch}"):
            try:
                self._rest.git.delete_ref(owner, name, f"heads/{branch}")
            except RequestFailed as error:
                if error.response.status_code not in (404, 422):  # already deleted
                    raise

    def _request_login(self) -> str:
        with _one_line_errors("the account of the token"):
            try:
                return str(self._rest.users.get_authenticated().json()["login"])
            except RateLimitExceeded:
                raise
            except RequestFailed as error:
                if error.response.status_code in (401, 403):  # an app's token, such as a job's, has no access
                    return ""
                raise

    def _is_app(self, author: Mapping[str, Any]) -> bool:
        """Return whether an author is the app that the token belongs to, and not another one."""
        return author.get("type") == "Bot" and str(author.get("login")) == self._app

    @cached_property
    def _app(self) -> str:
        """The login of the app; REST answers an app's token nowhere whose it is."""
        if self._is_anonymous:
            return ""
        with _one_line_errors("the app of the token"):
            login = str(self._github.graphql(VIEWER)["viewer"]["login"])
        return login if login.endswith(_APP_SUFFIX) else f"{login}{_APP_SUFFIX}"

    def _all(self, method: Callable[..., Any], **parameters: Any) -> list[dict[str, Any]]:
        """Return the items of all pages."""
        return list(self._iterate(method, **parameters))

    def _iterate(self, method: Callable[..., Any], **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield the items; request a page when it is needed."""
        return iter(self._rest.paginate(method, _items, self._owner, self._name, per_page=100, **parameters))


def repositories_of(api: str, token: str, owner: str, *, is_user: bool) -> list[HostedRepository]:
    """Return the repositories of an organization or a user that the token can see."""
    with _client(api, token) as github, _one_line_errors(f"repositories of {owner}"):
        rest = github.rest.repos
        method, given = (rest.list_for_user, {"username": owner}) if is_user else (rest.list_for_org, {"org": owner})
        return [_repository(found) for found in github.rest.paginate(method, _items, per_page=100, **given)]


def _repository(found: Mapping[str, Any]) -> HostedRepository:
    pushed = found.get("pushed_at")
    return HostedRepository(
        url=str(found["clone_url"]),
        languages=frozenset([str(found.get("language") or "").lower()]),
        stars=int(found.get("stargazers_count") or 0),
        archived=bool(found.get("archived")),
        fork=bool(found["fork"]),
        pushed=datetime.fromisoformat(str(pushed).replace("Z", "+00:00")) if pushed else None,
    )


def _client(api: str, token: str, transport: httpx.BaseTransport | None = None) -> GitHub[Any]:
    return GitHub(
        TokenAuthStrategy(token) if token else UnauthAuthStrategy(),
        base_url=api,
        timeout=_TIMEOUT_S,
        http_cache=False,
        auto_retry=RetryChainDecision(_rate_limit, RetryServerError()),
        transport=transport or BoundedTransport(api),
    )


def _items(response: Any) -> list[dict[str, Any]]:
    return list(response.json())


def _rate_limit(error: GitHubException, retries: int) -> RetryOption:
    """Wait as long as GitHub requests, up to the limit."""
    is_short_wait = isinstance(error, RateLimitExceeded) and error.retry_after <= timedelta(seconds=LONGEST_WAIT_S)
    if is_short_wait and retries < _MAX_RETRIES and isinstance(error, RateLimitExceeded):
        return RetryOption(do_retry=True, retry_after=error.retry_after)
    return RetryOption(do_retry=False)


@contextmanager
def _one_line_errors(subject: str) -> Iterator[None]:
    """Turn API errors into one-line ``BotError``."""
    try:
        yield
    except RateLimitExceeded as error:
        minutes = error.retry_after.total_seconds() / 60
        raise BotError(f"GitHub: {subject}: rate limit exceeded: run again in {minutes:.0f} min") from error
    except RequestFailed as error:
        raise BotError(f"GitHub: {subject}: {error.response.status_code} {_error_text(error)}") from error
    except RequestError as error:
        raise BotError(redacted(f"GitHub: {subject}: no connection: {error.exc}")) from error
    except GitHubException as error:
        raise BotError(redacted(f"GitHub: {subject}: {error!r}")) from error
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise BotError(f"GitHub: {subject}: unexpected response (is GITHUB_API_URL correct?)") from error


_HINTS = {
    401: "is the token valid?",
    403: f"does the token have the permissions in {page_url('how-to/bot')}?",
    404: "does the token have access?",
}


def _error_text(error: RequestFailed) -> str:
    try:
        document = error.response.json()
    except ValueError:
        document = {}
    message = str(document.get("message") or "") if isinstance(document, dict) else ""
    details = document.get("errors") if isinstance(document, dict) else None
    details_text = "; ".join(
        str(each.get("message") or each.get("code") or each) if isinstance(each, dict) else str(each)
        for each in details or ()
    )
    hint = _HINTS.get(error.response.status_code, "")
    return redacted(
        " ".join(
            part for part in (message, f"({details_text})" if details_text else "", f"({hint})" if hint else "") if part
        )
    )


def _suggestion_comment(suggestion: Suggestion) -> dict[str, Any]:
    comment: dict[str, Any] = {
        "path": suggestion.path,
        "body": suggestion.body(),
        "line": suggestion.last,
        "side": "RIGHT",
    }
    if suggestion.first < suggestion.last:
        comment.update(start_line=suggestion.first, start_side="RIGHT")
    return comment


def _pull(found: Mapping[str, Any]) -> PullRequest:
    head, base = found["head"], found["base"]
    merged = found.get("merged_at") is not None
    return PullRequest(
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
        draft=bool(found.get("draft")),
    )
