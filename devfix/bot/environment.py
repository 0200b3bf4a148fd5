"""Where the bot runs: the host, the repository, the pull request, and the token, which leaves the environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from devfix.bot.skip_reasons import BotError
from devfix.vcs.git import Git, GitError
from devfix.vcs.redaction import hide

__all__ = ["Surroundings", "of", "refuse_unsafe_runs", "take_token", "token_of"]

#: Variables that hold a token with which something can be written, those of the bot itself first.
_TOKENS = {
    "github": ("DEVFIX_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"),
    "gitlab": ("DEVFIX_TOKEN", "GITLAB_TOKEN", "GL_TOKEN"),
}
#: Others that nothing which the bot starts may see.
_SECRETS = (
    *("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_RUNTIME_TOKEN", "CI_JOB_TOKEN", "CI_JOB_JWT", "CI_REGISTRY_PASSWORD"),
    *("CI_DEPLOY_PASSWORD", "CI_REPOSITORY_URL", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN"),
)
#: Events in which GitHub gives a job the rights of the repository, whoever wrote the code.
_PRIVILEGED = ("pull_request_target", "workflow_run", "issue_comment")


@dataclass(frozen=True)
class Surroundings:
    """What the CI says.

    Attributes:
        kind: ``github`` or ``gitlab``.
        api: the address of the API.
        repository: ``owner/name``, or the project's path.
        event: what started the job.
        number: of the pull request; 0 where there is none.
        base, head: commits between which the pull request lies, as far as they are known; else empty.
        head_repository: where the pull request comes from; empty where it is not known.
        held: names of the variables that held tokens with which something can be written.

    """

    kind: str
    api: str
    repository: str
    event: str = ""
    number: int = 0
    base: str = ""
    head: str = ""
    head_repository: str = ""
    held: tuple[str, ...] = ()

    @property
    def fork(self) -> bool:
        """Whether there is a pull request from somewhere else, or nobody can tell from where (a deleted fork)."""
        return bool(self.number) and self.head_repository.lower() != self.repository.lower()


@dataclass
class Token:
    """A token, and what it is called; empty where there is none. It is not shown."""

    value: str = field(repr=False)
    held: tuple[str, ...] = ()


def take_token(kind: str, environment: MutableMapping[str, str] | None = None) -> Token:
    """The token for a host; it and every other one leave the environment, so that no child process has them."""
    environment = os.environ if environment is None else environment
    held = [name for names in _TOKENS.values() for name in names if environment.get(name)]
    value = next((environment[name] for name in _TOKENS[kind] if environment.get(name)), "")
    for name in {*held, *_SECRETS}:
        hide(environment.pop(name, ""))
    return Token(value, tuple(dict.fromkeys(held)))


def token_of(kind: str, environment: Mapping[str, str]) -> Token:
    """The token for a host, which stays where it is: for commands whose children see no variables anyway."""
    value = next((environment[name] for name in _TOKENS[kind] if environment.get(name)), "")
    hide(value)
    return Token(value)


def of(environment: Mapping[str, str], number: int = 0) -> Surroundings:
    """What the variables of the CI say; raises ``BotError`` where they are those of no CI."""
    if environment.get("GITHUB_REPOSITORY"):
        try:
            return _github(environment, number)
        except (AttributeError, TypeError, ValueError) as error:
            raise BotError(
                f"GITHUB_EVENT_PATH: {environment.get('GITHUB_EVENT_PATH')} is no event of GitHub's"
            ) from error
    if environment.get("CI_PROJECT_PATH"):
        return _gitlab(environment, number)
    raise BotError("this is neither a job of GitHub Actions (GITHUB_REPOSITORY) nor one of GitLab (CI_PROJECT_PATH)")


def _github(environment: Mapping[str, str], number: int) -> Surroundings:
    payload = _payload(environment.get("GITHUB_EVENT_PATH", ""))
    pull = payload.get("pull_request") or {}
    run = payload.get("workflow_run") or {}
    head = pull.get("head") or {}
    return Surroundings(
        kind="github",
        api=environment.get("GITHUB_API_URL") or "https://api.github.com",
        repository=environment["GITHUB_REPOSITORY"],
        event=environment.get("GITHUB_EVENT_NAME", ""),
        number=number or int(pull.get("number") or 0),
        base=str((pull.get("base") or {}).get("sha") or ""),
        head=str(head.get("sha") or run.get("head_sha") or ""),
        head_repository=str(
            (head.get("repo") or {}).get("full_name") or (run.get("head_repository") or {}).get("full_name") or ""
        ),
        held=_held(environment),
    )


def _gitlab(environment: Mapping[str, str], number: int) -> Surroundings:
    given = environment.get("CI_MERGE_REQUEST_IID", "")
    return Surroundings(
        kind="gitlab",
        api=environment.get("CI_SERVER_URL") or "https://gitlab.com",
        repository=environment["CI_PROJECT_PATH"]
        if not environment.get("CI_MERGE_REQUEST_PROJECT_PATH")
        else environment["CI_MERGE_REQUEST_PROJECT_PATH"],
        event=environment.get("CI_PIPELINE_SOURCE", ""),
        number=number or (int(given) if given.isdigit() else 0),
        base=environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", ""),
        head=environment.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environment.get("CI_COMMIT_SHA", ""),
        head_repository=environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", ""),
        held=_held(environment),
    )


def _held(environment: Mapping[str, str]) -> tuple[str, ...]:
    names = {name for names in _TOKENS.values() for name in names} | {"ACTIONS_ID_TOKEN_REQUEST_TOKEN"}
    return tuple(sorted(name for name in names if environment.get(name)))


def _payload(path: str) -> dict[str, Any]:
    if not path:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError) as error:
        raise BotError(f"GITHUB_EVENT_PATH: {path} cannot be read: {error}") from error
    return document if isinstance(document, dict) else {}


def refuse_unsafe_runs(around: Surroundings, folder: str) -> None:
    """Raise ``BotError`` where running the pull request's code could give its author what they must not have."""
    if around.event in _PRIVILEGED:
        raise BotError(
            f"{around.event} gives this job the rights of the repository: nothing is run in it."
            " Run devfix bot review on pull_request, and devfix bot post in a job of its own (docs/bot.md)"
        )
    if not around.fork:
        return
    where = around.head_repository or "a repository that is not known"
    if around.held:
        raise BotError(
            f"the code comes from {where}, and {', '.join(around.held)} is in the environment:"
            " it is not run. Run devfix bot review in a job without a token (docs/bot.md)"
        )
    if kept := _kept_by_checkout(folder):
        raise BotError(
            f"the code comes from {where}, and {kept} in the configuration of this checkout holds a"
            " token: it is not run. Check out with persist-credentials: false (docs/bot.md)"
        )


def _kept_by_checkout(folder: str) -> str:
    """The key under which actions/checkout keeps a token, where it does."""
    try:
        found = Git(folder, own=True)("config", "--name-only", "--get-regexp", r"^http\..*\.extraheader$")
    except GitError:  # there is none
        return ""
    return found.split("\n")[0].strip()
