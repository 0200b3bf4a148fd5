"""Client of Gitea and Forgejo, whose API is the same: https://docs.gitea.com/api, https://codeberg.org/api/swagger.

Reviews cannot be edited there, so the text of a review is a comment of the pull request.  There are no suggestions that
a click applies: a suggestion is shown as a diff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count, takewhile
from typing import Any
from urllib.parse import quote

import httpx

from devfix.bot.diff_lines import lines_of_hunk
from devfix.bot.forge import Account, CallLog, Comment, PullRequest
from devfix.bot.forks.fork import Fork
from devfix.bot.forks.gitea import find_or_create
from devfix.bot.patch import MAX_FILE_BYTES, MAX_TOTAL_BYTES
from devfix.bot.skip_reasons import BotError
from devfix.bot.suggestions import Suggestion
from devfix.bot.transport import BoundedTransport, DryRunTransport, requested_wait
from devfix.migrate.proposing import MergeMethod
from devfix.site import page_url
from devfix.vcs import hunks as diffs
from devfix.vcs.redaction import redacted

__all__ = ["GiteaForge"]

_TIMEOUT_S = 60.0
_PER_PAGE = 50
_DRAFT = "WIP: "
_LABEL_COLOR = "#ededed"
#: The states of commits in the words of :meth:`devfix.bot.forge.Forge.checks`.
_CHECKS = {"success": "passed", "warning": "passed", "skipped": "passed", "pending": "running"}
#: The authors of what a job's own token writes.
_ACTIONS_USERS = ("gitea-actions", "forgejo-actions")


class GiteaForge:
    """One repository on Gitea or Forgejo.

    Args:
        api: the address of the API, which ends with ``/api/v1``.
        repository: ``owner/name``.
        token: an access token; empty for anonymous reads of public repositories.
        dry_run: whether to print all calls, and send only those that read.
        log: prints a call in a dry run.

    """

    def __init__(self, api: str, repository: str, token: str, dry_run: bool, log: CallLog) -> None:
        self._repository = repository
        self._client = httpx.Client(
            base_url=api,
            headers={"Authorization": f"token {token}"} if token else {},
            timeout=_TIMEOUT_S,
            transport=DryRunTransport(api, log, waits=True) if dry_run else BoundedTransport(api, waits=True),
        )
        self._account = Account(self._request_login, lambda author: author.get("login") in _ACTIONS_USERS)

    def disconnect(self) -> None:
        self._client.close()

    # --- reads
    def pull(self, number: int) -> PullRequest:
        with _one_line_errors(f"pull request #{number}"):
            return _pull(self._get(self._path(f"pulls/{number}")).json())

    def open_pulls(self) -> list[PullRequest]:
        return self._pulls_from("open", self._repository)

    def pulls_from_branch(self, branch: str, fork: str = "") -> list[PullRequest]:
        found = [pull for pull in self._pulls_from("all", fork or self._repository) if pull.head_branch == branch]
        return sorted(found, key=lambda pull: -pull.number)

    def pulls_since(self, moment: datetime) -> list[PullRequest]:
        with _one_line_errors("pull requests"):
            updated_first = self._pages(self._path("pulls"), state="all", sort="recentupdate")  # none for creation
            found = list(map(_pull, takewhile(lambda each: _time(each["updated_at"]) > moment, updated_first)))
        return [pull for pull in found if pull.created > moment and _is_from(pull, self._repository)]

    def default_branch(self) -> str:
        with _one_line_errors("the repository"):
            return str(self._get(f"/repos/{self._repository}").json()["default_branch"])

    def account(self) -> str:
        return self._account.login()

    def can_push(self) -> bool:
        with _one_line_errors("the repository"):
            found = self._get(f"/repos/{self._repository}").json()
            return bool(
                (found.get("permissions") or {}).get("push", True)
            )  # if the server does not tell, the push does

    def read_file(self, path: str, revision: str) -> bytes | None:
        with _one_line_errors(path):
            return self._download(self._path(f"raw/{quote(path)}"), MAX_FILE_BYTES, ref=revision)

    def visible_lines(self, number: int) -> Mapping[str, set[int]]:
        with _one_line_errors(f"the diff of #{number}"):
            raw = self._download(self._path(f"pulls/{number}.diff"), MAX_TOTAL_BYTES) or b""
        files = diffs.read(raw.decode("utf-8", "replace"))
        return {file.path: set().union(*map(lines_of_hunk, file.hunks)) for file in files}

    def comments(self, number: int) -> list[Comment]:
        with _one_line_errors(f"comments of #{number}"):
            found = self._get(self._path(f"issues/{number}/comments")).json()
            return [self._account.read_comment(each) for each in found]

    def reviews(self, number: int) -> list[Comment]:
        return self.comments(number)

    def inline_comments(self, number: int) -> list[Comment]:
        with _one_line_errors(f"reviews of #{number}"):
            reviews = self._pages(self._path(f"pulls/{number}/reviews"))
            own = [review["id"] for review in reviews if self._account.is_author(review.get("user") or {})]
            return [
                self._account.read_comment(each)
                for review in own
                for each in self._get(self._path(f"pulls/{number}/reviews/{review}/comments")).json()
            ]

    def clone_url(self, repository: str) -> str:
        with _one_line_errors(repository):
            return str(self._get(f"/repos/{repository}").json()["clone_url"])

    # --- writes
    def format_suggestion(self, suggestion: Suggestion) -> str:
        return suggestion.as_diff()

    def post_review(self, pull: PullRequest, body: str, suggestions: Sequence[Suggestion]) -> None:
        comments = [
            {"path": each.path, "body": self.format_suggestion(each), "new_position": each.last, "old_position": 0}
            for each in suggestions
        ]
        with _one_line_errors(f"a review of #{pull.number}"):
            if comments:
                review = {"event": "COMMENT", "commit_id": pull.head, "body": "", "comments": comments}
                self._send("POST", self._path(f"pulls/{pull.number}/reviews"), review)
            if body:
                self._send("POST", self._path(f"issues/{pull.number}/comments"), {"body": body})

    def edit_review(self, number: int, comment: Comment, body: str) -> None:
        self.edit_inline_comment(number, comment, body)

    def edit_inline_comment(self, number: int, comment: Comment, body: str) -> None:
        with _one_line_errors(f"a comment of #{number}"):
            self._send("PATCH", self._path(f"issues/comments/{comment.id}"), {"body": body})

    def remove_review(self, number: int, comment: Comment) -> None:
        self.remove_inline_comment(number, comment)

    def remove_inline_comment(self, number: int, comment: Comment) -> None:
        with _one_line_errors(f"a comment of #{number}"):
            self._send("DELETE", self._path(f"issues/comments/{comment.id}"))

    def fork(self, owner: str) -> Fork:
        with _one_line_errors(f"a fork of {self._repository}"):
            return find_or_create(self._client, self._pages, self._repository, owner, self.account())

    def open_pull(self, branch: str, base: str, title: str, body: str, draft: bool, fork: str = "") -> int:
        head = f"{fork.partition('/')[0]}:{branch}" if fork else branch
        document = {"head": head, "base": base, "title": f"{_DRAFT}{title}" if draft else title, "body": body}
        with _one_line_errors(f"a pull request from {head}"):
            return int(self._send("POST", self._path("pulls"), document).json()["number"])

    def edit_pull(self, number: int, title: str, body: str) -> None:
        with _one_line_errors(f"pull request #{number}"):
            is_draft = self._get(self._path(f"pulls/{number}")).json()["title"].startswith(_DRAFT)
            document = {"title": f"{_DRAFT}{title}" if is_draft else title, "body": body}
            self._send("PATCH", self._path(f"pulls/{number}"), document)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        with _one_line_errors(f"labels of #{number}"):
            known = {each["name"]: each["id"] for each in self._pages(self._path("labels"))}
            for name in labels:
                if name not in known:
                    label = {"name": name, "color": _LABEL_COLOR}
                    known[name] = self._send("POST", self._path("labels"), label).json()["id"]
            identifiers = [known[name] for name in labels]
            self._send("POST", self._path(f"issues/{number}/labels"), {"labels": identifiers})

    def request_reviews(self, number: int, reviewers: Sequence[str]) -> None:
        document = {
            "reviewers": [name for name in reviewers if "/" not in name],
            "team_reviewers": [name.partition("/")[2] for name in reviewers if "/" in name],
        }
        with _one_line_errors(f"reviewers of #{number}"):
            self._send("POST", self._path(f"pulls/{number}/requested_reviewers"), document)

    def checks(self, pull: PullRequest) -> str:
        with _one_line_errors(f"checks of #{pull.number}"):
            found = self._get(self._path(f"commits/{pull.head}/status")).json()
        if not found.get("total_count"):  # without any, the state is "pending"
            return ""
        return _CHECKS.get(str(found["state"]), "failed")

    def decision(self, number: int) -> str:
        with _one_line_errors(f"reviews of #{number}"):
            found = [each for each in self._pages(self._path(f"pulls/{number}/reviews")) if not each.get("dismissed")]
        latest = {
            str((review.get("user") or {}).get("login")): review["state"]
            for review in found
            if review["state"] in ("APPROVED", "REQUEST_CHANGES")
        }
        states = set(latest.values())
        return "changes requested" if "REQUEST_CHANGES" in states else "approved" if states else ""

    def merge_pull(self, pull: PullRequest, method: MergeMethod) -> None:
        with _one_line_errors(f"pull request #{pull.number}"):
            document = {"Do": method, "head_commit_id": pull.head}  # "do" since Gitea 1.26, which reads both
            self._send("POST", self._path(f"pulls/{pull.number}/merge"), document)

    def close_pull(self, number: int, comment: str) -> None:
        with _one_line_errors(f"pull request #{number}"):
            self._send("POST", self._path(f"issues/{number}/comments"), {"body": comment})
            self._send("PATCH", self._path(f"pulls/{number}"), {"state": "closed"})

    def delete_branch(self, branch: str, fork: str = "") -> None:
        with _one_line_errors(f"branch {branch}"):
            response = self._client.delete(f"/repos/{fork or self._repository}/branches/{quote(branch)}")
            if response.status_code != 404:  # already deleted
                response.raise_for_status()

    def _pulls_from(self, state: str, repository: str) -> list[PullRequest]:
        with _one_line_errors("pull requests"):
            found = list(map(_pull, self._pages(self._path("pulls"), state=state)))
        return [pull for pull in found if _is_from(pull, repository)]

    def _request_login(self) -> str:
        with _one_line_errors("the account of the token"):
            response = self._client.get("/user")
            if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
                return ""
            return str(response.raise_for_status().json()["login"])

    def _path(self, rest: str) -> str:
        return f"/repos/{self._repository}/{rest}"

    def _get(self, path: str, **query: str | int) -> httpx.Response:
        return self._client.get(path, params=query).raise_for_status()

    def _send(self, method: str, path: str, document: Mapping[str, Any] | None = None) -> httpx.Response:
        return self._client.request(method, path, json=document).raise_for_status()

    def _pages(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages; request a page when it is needed.

        Only some lists have links to further pages; each has the number of its items in ``X-Total-Count``.
        """
        seen = 0
        for number in count(1):
            response = self._get(path, **query, page=number, limit=_PER_PAGE)
            items = response.json() or ()
            yield from items
            seen += len(items)
            total = response.headers.get("X-Total-Count", "")
            if not items or (seen >= int(total) if total else "next" not in response.links):
                return

    def _download(self, path: str, limit: int, **query: str) -> bytes | None:
        """Return a file's content; ``None`` if there is none."""
        with self._client.stream("GET", path, params=query) as response:
            if response.status_code == 404:
                return None
            response.raise_for_status()
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > limit:
                    raise BotError(f"{path} has more than {limit} bytes")
            return bytes(content)


@contextmanager
def _one_line_errors(subject: str) -> Iterator[None]:
    """Turn API errors into one-line ``BotError``."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        if error.response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            wait_s = requested_wait(error.response)
            when = f" in {wait_s / 60:.0f} min" if wait_s else " later"
            raise BotError(f"Gitea: {subject}: rate limit exceeded: run again{when}") from error
        permissions = f" (does the token have the permissions in {page_url('how-to/bot')}?)"
        hints = {401: " (is the token valid?)", 403: permissions}
        status = error.response.status_code
        raise BotError(redacted(f"Gitea: {subject}: {status}{_message(error)}{hints.get(status, '')}")) from error
    except httpx.HTTPError as error:
        raise BotError(redacted(f"Gitea: {subject}: no connection: {error}")) from error
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise BotError(f"Gitea: {subject}: unexpected response (is GITHUB_API_URL correct?)") from error


def _message(error: httpx.HTTPStatusError) -> str:
    try:
        found = error.response.json()["message"]
    except (httpx.HTTPError, LookupError, TypeError, ValueError):
        return ""
    return f" {str(found)[:300]}"


def _is_from(pull: PullRequest, repository: str) -> bool:
    """Return whether a pull request comes from a branch of a repository."""
    return pull.head_repository.lower() == repository.lower()


def _pull(found: Mapping[str, Any]) -> PullRequest:
    head, base = found["head"], found["base"]
    return PullRequest(
        number=int(found["number"]),
        title=str(found["title"]).removeprefix(_DRAFT),
        body=str(found.get("body") or ""),
        state="merged" if found.get("merged") else str(found["state"]),
        head=str(head["sha"]),
        head_branch=str(head["ref"]),
        head_repository=str((head.get("repo") or {}).get("full_name") or ""),
        base=str(base["sha"]),
        base_branch=str(base["ref"]),
        labels=tuple(str(label["name"]) for label in found.get("labels") or ()),
        created=_time(found["created_at"]),
        url=str(found.get("html_url") or ""),
        draft=bool(found.get("draft")) or str(found["title"]).startswith(_DRAFT),
    )


def _time(text: object) -> datetime:
    return datetime.fromisoformat(str(text).replace("Z", "+00:00"))
