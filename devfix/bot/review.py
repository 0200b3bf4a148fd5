"""Review of a pull request: findings on its lines as suggestions, as a commit, or as annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence

from devfix.bot import templates
from devfix.bot.analysis import analyse
from devfix.bot.artifact import Artifact, apply_patch, build_artifact
from devfix.bot.environment import CIEnvironment, Token, refuse_unsafe_runs
from devfix.bot.forge import Comment, Forge, PullRequest, raise_if_stopped
from devfix.bot.push import Remote
from devfix.bot.settings import BotSettings, parse_settings
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.bot.suggestions import Suggestion, build_suggestions, marker_key
from devfix.engine.changed_lines import ChangesError, since
from devfix.vcs.commits import Commit
from devfix.vcs.git import Git, GitError

__all__ = ["examine", "post"]

_CONFIGURATION = "pyproject.toml"
_OBSOLETE = "*This suggestion is obsolete.*"


def examine(environment: CIEnvironment, settings: BotSettings, jobs: int = 1) -> Artifact:
    """Analyse the changes of a pull request, whose checkout is the current folder.

    Raises:
        BotError: this is not a checkout of the pull request, or its code must not be run here.

    """
    if settings.verification is not None:
        refuse_unsafe_runs(environment, os.getcwd())
    if not environment.number or not environment.base:
        raise BotError("this job has no pull request: run it on pull_request or merge_request_event")
    head = _head(environment)
    try:
        scope = since(settings.paths, environment.base)
    except ChangesError as error:
        raise BotError(f"{error} (fetch the history: fetch-depth: 0)") from error
    analysis = analyse(settings.paths, settings.verification, scope=scope, jobs=jobs, with_hunk_groups=True)
    return build_artifact(analysis, environment, environment.base, head)


def _head(environment: CIEnvironment) -> str:
    try:
        local = Git(os.getcwd(), user_checkout=True)("rev-parse", "HEAD").strip()
    except GitError as error:
        raise BotError(str(error)) from error
    if environment.head and local != environment.head:
        raise BotError(
            f"this checkout is at {local[:12]}, but the pull request is at {environment.head[:12]}: check out its head"
            " (ref: ${{ github.event.pull_request.head.sha }})"
        )
    return local


def post(artifact: Artifact, environment: CIEnvironment, forge: Forge, token: Token, *, dry_run: bool = False) -> str:
    """Post the findings of an artifact.

    Args:
        artifact: findings and patch.
        environment: the CI job.
        forge: the forge.
        token: the token for ``git push``.
        dry_run: whether to push nothing.

    Returns:
        A sentence on what was posted.

    Raises:
        BotError: the artifact does not match the pull request.
        Skipped: the bot is not enabled, a person stopped it, or the pull request changed.

    """
    pull = _matching_pull(artifact, environment, forge)
    settings = parse_settings(
        forge.read_file(_CONFIGURATION, pull.base_branch), f"{_CONFIGURATION} of {pull.base_branch}"
    )
    if not settings.enabled:
        raise Skipped(f"{_CONFIGURATION} of {pull.base_branch} does not set [tool.devfix.bot] enabled = true")
    raise_if_stopped(pull, forge.comments(pull.number))
    if settings.mode == "annotations":
        return f'nothing was posted to #{pull.number}: mode = "annotations"'
    before = {path: _read_file(forge, path, pull) for path in artifact.paths}
    after = apply_patch(artifact, before)
    if settings.mode == "commit" and after:
        if pull.head_repository.lower() == environment.repository.lower():
            return _push_commit(artifact, pull, settings, forge, token, dry_run)
        note = f"#{pull.number} comes from a fork, which the bot cannot push to: it posts suggestions instead\n"
    else:
        note = ""
    proposed = build_suggestions(
        before, after, forge.visible_lines(pull.number), artifact["findings"], artifact.hunk_groups
    )
    return note + _post_suggestions(artifact, pull, forge, proposed)


def _matching_pull(artifact: Artifact, environment: CIEnvironment, forge: Forge) -> PullRequest:
    """Return the pull request; raise unless the artifact and the run belong to its present head."""
    if artifact["repository"].lower() != environment.repository.lower():
        raise BotError(f"the artifact belongs to {artifact['repository']}, not to {environment.repository}")
    if environment.head and environment.head != artifact["head"]:
        raise BotError(f"the artifact belongs to {artifact['head'][:12]}, but the run to {environment.head[:12]}")
    pull = forge.pull(artifact["number"])
    if pull.state != "open":
        raise Skipped(f"#{pull.number} is {pull.state}")
    source = environment.head_repository if environment.kind == "github" else ""
    if source and pull.head_repository.lower() != source.lower():
        raise BotError(f"#{pull.number} comes from {pull.head_repository}, but the run from {source}")
    if pull.head != artifact["head"]:
        raise Skipped(f"#{pull.number} is at {pull.head[:12]}, but {artifact['head'][:12]} was analysed")
    return pull


def _read_file(forge: Forge, path: str, pull: PullRequest) -> bytes:
    content = forge.read_file(path, pull.head)  # this repository has the commits of pull requests from forks
    if content is None:
        raise BotError(f"{path} is not in {pull.head[:12]}")
    return content


def _push_commit(
    artifact: Artifact, pull: PullRequest, settings: BotSettings, forge: Forge, token: Token, dry_run: bool
) -> str:
    message = templates.title(artifact["findings"])
    if dry_run:
        return f"would push a commit to {pull.head_branch}: {message}"
    remote = Remote(forge.clone_url(pull.head_repository), token)
    commit = Commit(pull.head, artifact.patch, message, settings.author, f"bot {pull.head_branch}")
    commit_hash = remote.push(commit, pull.head_branch, is_bot_branch=False)
    body = templates.review(artifact.manifest, (), _patch_text(artifact), commit=commit_hash)
    _post_body(forge, pull, forge.reviews(pull.number), body, ())
    return f"pushed {commit_hash[:12]} to {pull.head_branch}"


def _post_suggestions(artifact: Artifact, pull: PullRequest, forge: Forge, proposed: Sequence[Suggestion]) -> str:
    reviews, inline = forge.reviews(pull.number), forge.inline_comments(pull.number)
    posted = {marker_key(comment.body): comment for comment in inline if comment.is_own and marker_key(comment.body)}
    current = {each.key: each for each in proposed if each.is_visible}
    new = [each for key, each in current.items() if key not in posted]
    for key, comment in posted.items():
        body = (
            forge.format_suggestion(current[key])
            if key in current
            else f"{_OBSOLETE}\n\n<!-- devfix:suggestion={key} -->"
        )
        if _is_changed(comment.body, body):
            forge.edit_inline_comment(pull.number, comment, body)
    if not artifact["findings"] and not posted and not _own_review(reviews):
        return f"#{pull.number}: no findings"
    body = templates.review(artifact.manifest, proposed, _patch_text(artifact))
    _post_body(forge, pull, reviews, body, new)
    outside = len(proposed) - len(current)
    return f"#{pull.number}: {len(new)} new of {len(current)} suggestions, {outside} outside of its lines"


def _post_body(
    forge: Forge, pull: PullRequest, reviews: Sequence[Comment], body: str, new: Sequence[Suggestion]
) -> None:
    """Post a review, or update the existing one and post new suggestions in another review."""
    existing = _own_review(reviews)
    if existing is None:
        forge.post_review(pull, body, new)
        return
    if _is_changed(existing.body, body):
        forge.edit_review(pull.number, existing, body)
    if new:
        forge.post_review(pull, "", new)


def _own_review(reviews: Sequence[Comment]) -> Comment | None:
    return next(
        (comment for comment in reviews if comment.is_own and comment.body.rstrip().endswith(templates.REVIEW_MARKER)),
        None,
    )


def _is_changed(old: str, new: str) -> bool:
    """Compare bodies; forges change line endings and strip trailing blanks."""
    return old.replace("\r\n", "\n").strip() != new.replace("\r\n", "\n").strip()


def _patch_text(artifact: Artifact) -> str:
    return artifact.patch.decode("utf-8", "replace")
