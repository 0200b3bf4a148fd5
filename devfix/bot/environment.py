"""The environment of a CI job: forge, repository, pull request, and token."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from devfix.bot.skip_reasons import BotError
from devfix.site import page_url
from devfix.vcs.git import Git, GitError
from devfix.vcs.hosts import is_gitea
from devfix.vcs.redaction import hide

__all__ = [
    "CIEnvironment",
    "read_environment",
    "read_token",
    "refuse_analysis_beside_token",
    "refuse_unsafe_runs",
    "take_token",
]

#: Variables that hold a token with write access, in order of precedence.
_TOKENS = {
    "github": ("DEVFIX_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"),
    "gitlab": ("DEVFIX_TOKEN", "GITLAB_TOKEN", "GL_TOKEN"),
    "gitea": ("DEVFIX_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"),
}
#: Other secrets to hide from child processes.
_SECRETS = (
    *("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_RUNTIME_TOKEN", "CI_JOB_TOKEN", "CI_JOB_JWT", "CI_REGISTRY_PASSWORD"),
    *("CI_DEPLOY_PASSWORD", "CI_REPOSITORY_URL", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN"),
)
_PAGE = page_url("how-to/bot")

#: Events in which GitHub gives a job write access although the code may come from a fork.
_PRIVILEGED = ("pull_request_target", "workflow_run", "issue_comment")


@dataclass(frozen=True)
class CIEnvironment:
    """The forge, repository and pull request of a CI job.

    Attributes:
        kind: ``github``, ``gitlab``, or ``gitea`` (also Forgejo).
        api: the address of the API.
        repository: ``owner/name``, or the project's path.
        event: the event that started the job.
        number: the number of the pull request; 0 if there is none.
        base, head: the commits of the pull request; empty if unknown.
        head_repository: the repository that the pull request comes from; empty if unknown.
        token_variables: the variables that hold tokens with write access.

    """

    kind: str
    api: str
    repository: str
    event: str = ""
    number: int = 0
    base: str = ""
    head: str = ""
    head_repository: str = ""
    token_variables: tuple[str, ...] = ()

    @property
    def is_from_fork(self) -> bool:
        """Whether the pull request comes from another repository, or from an unknown one (a deleted fork)."""
        return bool(self.number) and self.head_repository.lower() != self.repository.lower()


@dataclass
class Token:
    """A token, hidden in ``repr``; empty if there is none."""

    value: str = field(repr=False)


def take_token(kind: str, variables: MutableMapping[str, str] | None = None) -> Token:
    """Return the token for a forge, and remove all tokens from the environment of child processes."""
    variables = os.environ if variables is None else variables
    present = [name for names in _TOKENS.values() for name in names if variables.get(name)]
    value = next((variables[name] for name in _TOKENS[kind] if variables.get(name)), "")
    for name in {*present, *_SECRETS}:
        hide(variables.pop(name, ""))
    return Token(value)


def read_token(kind: str, variables: Mapping[str, str]) -> Token:
    """Return the token for a forge; the environment stays as it is."""
    value = next((variables[name] for name in _TOKENS[kind] if variables.get(name)), "")
    hide(value)
    return Token(value)


def read_environment(variables: Mapping[str, str], number: int = 0) -> CIEnvironment:
    """Return the CI environment that the variables describe.

    Args:
        variables: environment variables.
        number: the number of the pull request; 0 for the job's.

    Raises:
        BotError: this is not a CI job, or its event cannot be read.

    """
    if variables.get("GITHUB_REPOSITORY"):
        try:
            return _github(variables, number)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise BotError(f"GITHUB_EVENT_PATH: {variables.get('GITHUB_EVENT_PATH')} is not a GitHub event") from error
    if variables.get("CI_PROJECT_PATH"):
        return _gitlab(variables, number)
    raise BotError(
        "not a job of a supported forge: neither GITHUB_REPOSITORY (GitHub, Gitea, Forgejo) nor CI_PROJECT_PATH"
        " (GitLab) is set"
    )


def _github(variables: Mapping[str, str], number: int) -> CIEnvironment:
    payload = _payload(variables.get("GITHUB_EVENT_PATH", ""))
    pull = payload.get("pull_request") or {}
    run = payload.get("workflow_run") or {}
    head = pull.get("head") or {}
    listed = [each for each in run.get("pull_requests") or () if each["head"]["sha"] == run.get("head_sha")]
    if len(listed) == 1:  # GitHub lists no pull requests from forks
        pull = {**pull, "number": listed[0]["number"], "base": listed[0]["base"]}
    api = variables.get("GITHUB_API_URL") or "https://api.github.com"
    return CIEnvironment(
        kind="gitea" if is_gitea(api) else "github",
        api=api,
        repository=variables["GITHUB_REPOSITORY"],
        event=variables.get("GITHUB_EVENT_NAME", ""),
        number=number or int(pull.get("number") or 0),
        base=str((pull.get("base") or {}).get("sha") or ""),
        head=str(head.get("sha") or run.get("head_sha") or ""),
        head_repository=str(
            (head.get("repo") or {}).get("full_name") or (run.get("head_repository") or {}).get("full_name") or ""
        ),
        token_variables=_token_variables(variables),
    )


def _gitlab(variables: Mapping[str, str], number: int) -> CIEnvironment:
    iid = variables.get("CI_MERGE_REQUEST_IID", "")
    return CIEnvironment(
        kind="gitlab",
        api=variables.get("CI_SERVER_URL") or "https://gitlab.com",
        repository=variables["CI_PROJECT_PATH"]
        if not variables.get("CI_MERGE_REQUEST_PROJECT_PATH")
        else variables["CI_MERGE_REQUEST_PROJECT_PATH"],
        event=variables.get("CI_PIPELINE_SOURCE", ""),
        number=number or (int(iid) if iid.isdigit() else 0),
        base=variables.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", ""),
        head=variables.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or variables.get("CI_COMMIT_SHA", ""),
        head_repository=variables.get("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", ""),
        token_variables=_token_variables(variables),
    )


def _token_variables(variables: Mapping[str, str]) -> tuple[str, ...]:
    names = {name for names in _TOKENS.values() for name in names} | {"ACTIONS_ID_TOKEN_REQUEST_TOKEN"}
    return tuple(sorted(name for name in names if variables.get(name)))


def _payload(path: str) -> dict[str, Any]:
    if not path:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError) as error:
        raise BotError(f"GITHUB_EVENT_PATH: {path} cannot be read: {error}") from error
    return document if isinstance(document, dict) else {}


def refuse_analysis_beside_token(environment: CIEnvironment, *, runs_code: bool) -> None:
    """Raise ``BotError`` if a pull request must not be analysed in the job that posts.

    A fault of the analysis, or its cost, must not be a stranger's way to the token.  Processes of one user also read
    each other's first environment (``/proc/PID/environ``), which removing a variable does not change.

    Args:
        environment: the CI job.
        runs_code: whether a script of the pull request is run.

    """
    if not environment.token_variables:
        return
    if environment.event in _PRIVILEGED:
        reason = f"{environment.event} gives this job write access to the repository"
    elif environment.is_from_fork:
        reason = f"the code comes from {environment.head_repository or 'an unknown repository'}"
    elif runs_code:
        reason = "[tool.devfix.bot.verify] runs code of the pull request"
    else:
        return
    raise BotError(
        f"{reason}, and {', '.join(environment.token_variables)} is set, so it is not analysed in this job."
        f" Use devfix bot review --artifact in a job without a token, then recompute and post ({_PAGE})"
    )


def refuse_unsafe_runs(environment: CIEnvironment, folder: str) -> None:
    """Raise ``BotError`` if running the pull request's code could leak a token to its author."""
    if environment.event in _PRIVILEGED:
        raise BotError(
            f"{environment.event} gives this job write access to the repository, so the script is not run."
            f" Run devfix bot review on pull_request, and devfix bot post in a separate job ({_PAGE})"
        )
    if not environment.is_from_fork:
        return
    fork = environment.head_repository or "an unknown repository"
    if environment.token_variables:
        raise BotError(
            f"the code comes from {fork}, and {', '.join(environment.token_variables)} is set, so the script is"
            f" not run. Run devfix bot review in a job without a token ({_PAGE})"
        )
    if key := _stored_token_key(folder):
        raise BotError(
            f"the code comes from {fork}, and {key} in this checkout's git configuration holds a token, so"
            f" the script is not run. Check out with persist-credentials: false ({_PAGE})"
        )


def _stored_token_key(folder: str) -> str:
    """Return the configuration key under which actions/checkout stored a token; empty if none."""
    try:
        found = Git(folder, user_checkout=True)("config", "--name-only", "--get-regexp", r"^http\..*\.extraheader$")
    except GitError:  # no such key
        return ""
    return found.split("\n")[0].strip()
