"""Review of a pull request: findings on its lines as suggestions, as a commit, or as annotations."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from devfix.bot import templates
from devfix.bot.analysis import analyse
from devfix.bot.artifact import Artifact, apply_patch, build_artifact
from devfix.bot.environment import CIEnvironment, Token, refuse_unsafe_runs
from devfix.bot.forge import Comment, Forge, PullRequest, raise_if_stopped
from devfix.bot.patch import MAX_TOTAL_BYTES, hunks
from devfix.bot.push import Remote
from devfix.bot.settings import BotSettings, parse_settings
from devfix.bot.skip_reasons import BotError, Skipped
from devfix.bot.suggestions import Suggestion, build_suggestions, marker_key
from devfix.engine.changed_lines import ChangesError, since
from devfix.model import Resolution
from devfix.vcs.commits import Commit
from devfix.vcs.git import Git, GitError

__all__ = ["examine", "post", "read_settings", "recompute"]

_CONFIGURATION = "pyproject.toml"
_MAX_FILES = 50  # of a review: each is a request
_OBSOLETE = "*This suggestion is obsolete.*"


def examine(
    environment: CIEnvironment,
    settings: BotSettings,
    jobs: int = 1,
    *,
    refuse: Callable[[Resolution], str] | None = None,
) -> Artifact:
    """Analyse the changes of a pull request, whose checkout is the current folder.

    Args:
        environment: the CI job.
        settings: the paths to analyse, and the script that verifies the patch.
        jobs: number of worker processes.
        refuse: returns why the fix of a finding is left out; empty if it is not.

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
    analysis = analyse(
        settings.paths,
        settings.verification,
        scope=scope,
        jobs=jobs,
        with_hunk_groups=True,
        refuse=refuse,
        is_pull_request=True,
    )
    _check_count(len(analysis.files))
    return build_artifact(analysis, environment, environment.base, head)


def recompute(claim: Artifact | None, environment: CIEnvironment, settings: BotSettings, jobs: int = 1) -> Artifact:
    """Analyse the changes of a pull request again, and run nothing.

    The job that made the claim may have run the pull request's code, and its workflow is the pull request's.  Findings
    and patch are therefore devfix's own; of the claim remain the number and the base commit if the run does not name
    them, which edits failed in the script's run, and the verdict on the same patch, which is shown as a claim.

    Args:
        claim: the artifact of the first job; ``None`` if there was none, and the run names the pull request.
        environment: the CI job; the current folder is a checkout of the pull request.
        settings: the paths to analyse.
        jobs: number of worker processes.

    Raises:
        BotError: the claim belongs to another repository or commit, or this is not a checkout of the pull request.

    """
    settings = replace(settings, verification=None)
    if claim is None:
        return examine(environment, settings, jobs)
    _check_identity(claim, environment)
    base = environment.base or claim["base"]
    environment = replace(environment, number=claim["number"], base=base, head=claim["head"])
    proved = _Proved.of(claim) if claim["evidence"] is not None else None
    artifact = examine(environment, settings, jobs, refuse=None if proved is None else proved.refuse)
    if proved is None or claim["patch"] != artifact["patch"]:
        verdict = {"evidence": None, "not_verified": "no run of a script has a verdict on this patch"}
    else:
        verdict = {"evidence": claim["evidence"], "not_verified": ""}
    return Artifact({**artifact.manifest, **verdict}, artifact.patch)


@dataclass(frozen=True)
class _Proved:
    """The findings whose edits a claim applies, by rule, file and line."""

    fixed: frozenset[tuple[str, str, int]]

    @classmethod
    def of(cls, claim: Artifact) -> _Proved:
        found = (item for item in claim["findings"] if item["status"] == "fixed")
        return cls(frozenset((item["code"], item["path"], item["line"]) for item in found))

    def refuse(self, item: Resolution) -> str:
        finding = item.finding
        key = finding.code, finding.path.replace(os.sep, "/"), finding.span.line
        return "" if key in self.fixed else "the run of the script did not accept this edit"


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
    _check_count(len(artifact.paths))
    pull = _matching_pull(artifact, environment, forge)
    settings = read_settings(forge, pull.base_branch)
    raise_if_stopped(pull, forge.comments(pull.number))
    if settings.mode == "annotations":
        return f'nothing was posted to #{pull.number}: mode = "annotations"'
    before = _read_files(forge, artifact.paths, pull)
    after = apply_patch(artifact, before)
    visible = forge.visible_lines(pull.number)
    note = ""
    if settings.mode == "commit" and after:
        obstacle = _obstacle_to_commit(artifact, pull, environment, visible)
        if not obstacle:
            return _push_commit(artifact, pull, settings, forge, token, dry_run)
        note = f"#{pull.number} {obstacle}: it posts suggestions instead\n"
    proposed = build_suggestions(
        before,
        after,
        hunks(artifact.patch, after),
        visible,
        artifact["findings"],
        artifact.hunk_groups,
    )
    return note + _post_suggestions(artifact, pull, forge, proposed)


def _check_count(files: int) -> None:
    """Raise ``BotError`` if a patch changes more files than the job that posts reads from the forge."""
    if files > _MAX_FILES:
        raise BotError(f"the patch changes {files} files, which is more than a review can show: run devfix apply")


def _check_identity(artifact: Artifact, environment: CIEnvironment) -> None:
    """Raise ``BotError`` unless the artifact and the run belong to the same repository and commit."""
    if artifact["repository"].lower() != environment.repository.lower():
        raise BotError(f"the artifact belongs to {artifact['repository']}, not to {environment.repository}")
    if not artifact["number"]:
        raise BotError("the artifact belongs to no pull request: its number is 0")
    if environment.number and environment.number != artifact["number"]:
        raise BotError(f"the artifact belongs to #{artifact['number']}, but the run to #{environment.number}")
    if environment.head and environment.head != artifact["head"]:
        raise BotError(f"the artifact belongs to {artifact['head'][:12]}, but the run to {environment.head[:12]}")


def read_settings(forge: Forge, branch: str) -> BotSettings:
    """Return the settings of a branch.

    Raises:
        Skipped: they do not enable the bot.

    """
    file = f"{_CONFIGURATION} of {branch}"
    settings = parse_settings(forge.read_file(_CONFIGURATION, branch), file)
    if not settings.enabled:
        raise Skipped(f"{file} does not set [tool.devfix.bot] enabled = true")
    return settings


def _matching_pull(artifact: Artifact, environment: CIEnvironment, forge: Forge) -> PullRequest:
    """Return the pull request; raise unless the artifact and the run belong to its present head."""
    _check_identity(artifact, environment)
    pull = forge.pull(artifact["number"])
    if pull.state != "open":
        raise Skipped(f"#{pull.number} is {pull.state}")
    source = environment.head_repository if environment.kind == "github" else ""
    if source and pull.head_repository.lower() != source.lower():
        raise BotError(f"#{pull.number} comes from {pull.head_repository}, but the run from {source}")
    if pull.head != artifact["head"]:
        raise Skipped(f"#{pull.number} is at {pull.head[:12]}, but {artifact['head'][:12]} was analysed")
    return pull


def _read_files(forge: Forge, paths: Sequence[str], pull: PullRequest) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    left = MAX_TOTAL_BYTES
    for path in paths:
        content = forge.read_file(path, pull.head)  # this repository has the commits of pull requests from forks
        if content is None:
            raise BotError(f"{path} is not in {pull.head[:12]}")
        left -= len(content)
        if left < 0:
            raise BotError(f"the patched files have more than {MAX_TOTAL_BYTES >> 20} MiB: run devfix apply")
        contents[path] = content
    return contents


def _obstacle_to_commit(
    artifact: Artifact, pull: PullRequest, environment: CIEnvironment, visible: Mapping[str, Collection[int]]
) -> str:
    """Return why the patch must not be pushed to the pull request's branch; empty if it may be."""
    if pull.head_repository.lower() != environment.repository.lower():
        return "comes from a fork, which the bot cannot push to"
    others = [path for path in artifact.paths if path not in visible]
    return f"does not change {others[0]}, which the patch changes" if others else ""


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
    if existing is not None and _is_changed(existing.body, body):
        forge.edit_review(pull.number, existing, body)
    if existing is None or new:
        forge.post_review(pull, body if existing is None else "", new)
        _remove_duplicates(forge, pull.number)


def _remove_duplicates(forge: Forge, number: int) -> None:
    """Keep the first of equal reviews and comments: another run, or a repeated request, may have posted them, too."""
    for comment in _own_reviews(forge.reviews(number))[1:]:
        forge.remove_review(number, comment)
    keys = set()
    for comment in sorted(forge.inline_comments(number), key=_age):
        key = marker_key(comment.body) if comment.is_own else ""
        if key and key in keys:
            forge.remove_inline_comment(number, comment)
        keys.add(key)


def _own_review(reviews: Sequence[Comment]) -> Comment | None:
    return next(iter(_own_reviews(reviews)), None)


def _own_reviews(reviews: Sequence[Comment]) -> list[Comment]:
    """Return the bot's reviews, oldest first."""
    found = (each for each in reviews if each.is_own and each.body.rstrip().endswith(templates.REVIEW_MARKER))
    return sorted(found, key=_age)


def _age(comment: Comment) -> int:
    return int(comment.id.rpartition("/")[2])


def _is_changed(old: str, new: str) -> bool:
    """Compare bodies; forges change line endings and strip trailing blanks."""
    return old.replace("\r\n", "\n").strip() != new.replace("\r\n", "\n").strip()


def _patch_text(artifact: Artifact) -> str:
    return artifact.patch.decode("utf-8", "replace")
