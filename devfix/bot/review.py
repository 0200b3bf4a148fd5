"""A pull request's review: what was found on its lines, as suggestions, as a commit, or as annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence

from devfix.bot import templates
from devfix.bot.analysis import analyse
from devfix.bot.artifact import Artifact, manifest, patched
from devfix.bot.environment import Surroundings, Token, refuse_unsafe_runs
from devfix.bot.forge import Host, Pull, Remark, stopped
from devfix.bot.push import Commit, Remote
from devfix.bot.settings import BotSettings, of_bytes
from devfix.bot.skip_reasons import BotError, LeftAlone
from devfix.bot.suggestions import Suggestion, marker_key, suggestions
from devfix.engine.changed_lines import ChangesError, since
from devfix.vcs.git import Git, GitError

__all__ = ["examine", "post"]

_CONFIGURATION = "pyproject.toml"
_DONE = "*This suggestion is not needed any more.*"


def examine(around: Surroundings, settings: BotSettings, jobs: int = 1) -> Artifact:
    """Analyse what a pull request changes, in its checkout, which is the current folder.

    Raises:
        BotError: it is not the pull request's checkout, or its code may not be run here.

    """
    if settings.verification is not None:
        refuse_unsafe_runs(around, os.getcwd())
    if not around.number or not around.base:
        raise BotError("this job belongs to no pull request: run it on pull_request, or on merge_request_event")
    head = _head(around)
    try:
        scope = since(settings.paths, around.base)
    except ChangesError as error:
        raise BotError(f"{error} (the checkout needs the history: fetch-depth: 0)") from error
    analysis = analyse(settings.paths, settings.verification, scope=scope, jobs=jobs, apart=True)
    return manifest(analysis, around, around.base, head)


def _head(around: Surroundings) -> str:
    try:
        here = Git(os.getcwd(), own=True)("rev-parse", "HEAD").strip()
    except GitError as error:
        raise BotError(str(error)) from error
    if around.head and here != around.head:
        raise BotError(
            f"this checkout is at {here[:12]}, and the pull request at {around.head[:12]}: check out its head"
            " (ref: ${{ github.event.pull_request.head.sha }})"
        )
    return here


def post(artifact: Artifact, around: Surroundings, host: Host, token: Token, *, dry_run: bool = False) -> str:
    """Post what was found, and say what was done.

    Raises:
        BotError: the artifact is not about the pull request as it is.
        LeftAlone: the bot is not asked for, or was told to stop.

    """
    pull = _fitting(artifact, around, host)
    settings = of_bytes(host.content(_CONFIGURATION, pull.base_branch), f"{_CONFIGURATION} of {pull.base_branch}")
    if not settings.enabled:
        raise LeftAlone(f"{_CONFIGURATION} of {pull.base_branch} does not say [tool.devfix.bot] enabled = true")
    stopped(pull, host.talk(pull.number))
    if settings.mode == "annotations":
        return f'nothing was posted to #{pull.number}: mode = "annotations"'
    before = {path: _existing(host, path, pull) for path in artifact.paths}
    after = patched(artifact, before)
    if settings.mode == "commit" and after:
        if pull.head_repository.lower() == around.repository.lower():
            return _committed(artifact, pull, settings, host, token, dry_run)
        told = f"#{pull.number} comes from a fork, which is not pushed to: suggestions are made\n"
    else:
        told = ""
    offered = suggestions(before, after, host.shown_lines(pull.number), artifact["findings"], artifact.parts)
    return told + _suggested(artifact, pull, host, offered)


def _fitting(artifact: Artifact, around: Surroundings, host: Host) -> Pull:
    """The pull request, where the artifact is about its present head and comes from a run for that."""
    if artifact["repository"].lower() != around.repository.lower():
        raise BotError(f"the artifact is about {artifact['repository']}, and this is {around.repository}")
    if around.head and around.head != artifact["head"]:
        raise BotError(f"the artifact is about {artifact['head'][:12]}, and the run was for {around.head[:12]}")
    pull = host.pull(artifact["number"])
    if pull.state != "open":
        raise LeftAlone(f"#{pull.number} is {pull.state}")
    came = around.head_repository if around.kind == "github" else ""
    if came and pull.head_repository.lower() != came.lower():
        raise BotError(f"#{pull.number} comes from {pull.head_repository}, and the run from {came}")
    if pull.head != artifact["head"]:
        raise LeftAlone(f"#{pull.number} is at {pull.head[:12]} by now, and {artifact['head'][:12]} was analysed")
    return pull


def _existing(host: Host, path: str, pull: Pull) -> bytes:
    content = host.content(path, pull.head)  # of this repository, which has the commits of its forks' pull requests
    if content is None:
        raise BotError(f"{path} is not in {pull.head[:12]}")
    return content


def _committed(artifact: Artifact, pull: Pull, settings: BotSettings, host: Host, token: Token, dry_run: bool) -> str:
    message = templates.title(artifact["findings"])
    if dry_run:
        return f"would push a commit to {pull.head_branch}: {message}"
    remote = Remote(host.clone_url(pull.head_repository), token)
    commit = Commit(pull.head, artifact.patch, message, settings.author)
    made = remote.push(commit, pull.head_branch, ours=False)
    body = templates.review(artifact.manifest, (), _text(artifact), made=made)
    _say(host, pull, host.reviews(pull.number), body, ())
    return f"pushed {made[:12]} to {pull.head_branch}"


def _suggested(artifact: Artifact, pull: Pull, host: Host, offered: Sequence[Suggestion]) -> str:
    reviews, inline = host.reviews(pull.number), host.inline(pull.number)
    said = {marker_key(remark.body): remark for remark in inline if remark.mine and marker_key(remark.body)}
    wanted = {each.key: each for each in offered if each.inside}
    fresh = [each for key, each in wanted.items() if key not in said]
    for key, remark in said.items():
        body = host.worded(wanted[key]) if key in wanted else f"{_DONE}\n\n<!-- devfix:suggestion={key} -->"
        if _differs(remark.body, body):
            host.edit_inline(pull.number, remark, body)
    if not artifact["findings"] and not said and not _ours(reviews):
        return f"nothing to say about #{pull.number}"
    body = templates.review(artifact.manifest, offered, _text(artifact))
    _say(host, pull, reviews, body, fresh)
    outside = len(offered) - len(wanted)
    return f"#{pull.number}: {len(fresh)} new of {len(wanted)} suggestions, {outside} outside of its lines"


def _say(host: Host, pull: Pull, reviews: Sequence[Remark], body: str, fresh: Sequence[Suggestion]) -> None:
    """One review; where there is one already, its body is changed, and what is new is one review more."""
    first = _ours(reviews)
    if first is None:
        host.review(pull, body, fresh)
        return
    if _differs(first.body, body):
        host.edit_review(pull.number, first, body)
    if fresh:
        host.review(pull, "", fresh)


def _ours(reviews: Sequence[Remark]) -> Remark | None:
    return next(
        (remark for remark in reviews if remark.mine and remark.body.rstrip().endswith(templates.REVIEW_MARKER)), None
    )


def _differs(old: str, new: str) -> bool:
    """Hosts send bodies with other newlines, and without blanks at the end."""
    return old.replace("\r\n", "\n").strip() != new.replace("\r\n", "\n").strip()


def _text(artifact: Artifact) -> str:
    return artifact.patch.decode("utf-8", "replace")
