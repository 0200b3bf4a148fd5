"""Markdown bodies of pull requests and reviews."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from devfix.bot.markdown import code, fenced, has_invisible, one_line, plain
from devfix.bot.suggestions import Suggestion

__all__ = ["REVIEW_MARKER", "fingerprint", "group_marker", "pull_request", "review", "title"]

REVIEW_MARKER = "<!-- devfix:review -->"
_GROUP_MARKER = "<!-- devfix:group={group} patch={patch} -->"
_FINGERPRINT = re.compile(r"<!-- devfix:group=([a-z0-9._-]+) patch=([0-9a-f]{64}) -->")
_MAX_ROWS = 100
_MAX_DIFF = 30_000  # characters of the patch
_CLAIM = (
    "*This is a claim, not a proof: the script is code of this pull request, and could have written these results"
    " itself.*"
)
_MAX_BODY = 60_000  # characters; GitHub's limit is 65 536


def group_marker(group: str, patch: str) -> str:
    """Return the hidden marker of the bot's pull requests: the group and the patch's SHA-256."""
    return _GROUP_MARKER.format(group=group, patch=patch)


def fingerprint(body: str) -> tuple[str, str]:
    """Return group and patch from a pull request's body; empty if it has no marker."""
    found = _FINGERPRINT.findall(body)  # the last one is the bot's: earlier ones may be quoted from code
    return found[-1] if found else ("", "")


def title(findings: Sequence[Mapping[str, Any]]) -> str:
    """Return ``fix(device): …`` with the names of the rules."""
    fixed = Counter(item["name"] for item in findings if item["status"] == "fixed")
    if len(fixed) == 1:
        ((name, count),) = fixed.items()
        return f"fix(device): {name}" + (f" in {count} places" if count > 1 else "")
    return f"fix(device): {sum(fixed.values())} device bugs of {len(fixed)} kinds"


def pull_request(document: Mapping[str, Any], group: str, patch: str, diff: str) -> str:
    """Return the body of a pull request of ``devfix bot open``.

    Args:
        document: the manifest as in schema/artifact-2.json; ``scope`` says whose files a part of a split patch has.
        group: the group of rules.
        patch: the patch's SHA-256.
        diff: the patch.

    """
    fixed = [item for item in document["findings"] if item["status"] == "fixed"]
    parts = [
        _introduction(len(fixed), len(document["files"])),
        _scope(document.get("scope")),
        "Only the lines of these fixes change; the patched files were analysed again.",
        _rules(fixed),
        _details(fixed),
        "### Evidence",
        _evidence(document),
        _not_fixed(document),
        "### Reproduce",
        fenced(f"pip install devfix\ndevfix check .\ndevfix apply . --diff\n{_verify_command(document)}", "console"),
        _opt_out(),
        f"<sub>{plain(document['tool'])} on {code(document['base'][:12])}</sub>",
        group_marker(group, patch),
    ]
    return _shorten([part for part in parts if part])


def _introduction(bugs: int, files: int) -> str:
    return (
        f"This fixes {_count(bugs, 'device bug')} in {_count(files, 'file')}:"
        " tensors or modules that are on the CPU while the model is on the accelerator, or vice versa."
    )


def _scope(scope: Mapping[str, Any] | None) -> str:
    """Return whose files a pull request changes, if the fixes of a repository are split by owners."""
    if scope is None:
        return ""
    owners = ", ".join(code(owner) for owner in scope["owners"])
    text = f"Owners of these files: {owners}." if owners else "These files have no owner in CODEOWNERS."
    if scope["parts"] == 1:
        return text
    return (
        f"{text} This is one of {scope['parts']} changes, because the fixes of this repository are split by owners."
        " Each can be merged alone, in any order; the runs under *Evidence* are runs with all of them."
    )


def review(document: Mapping[str, Any], suggestions: Sequence[Suggestion], diff: str, commit: str = "") -> str:
    """Return the body of a review.

    Args:
        document: the manifest as in schema/artifact-2.json.
        suggestions: the suggestions, visible or not.
        diff: the patch.
        commit: the commit that contains the fixes; empty if none was pushed.

    """
    fixed = [item for item in document["findings"] if item["status"] == "fixed"]
    hidden = [each for each in suggestions if not each.is_visible]
    parts = [f"**devfix** found {_count(len(document['findings']), 'device bug')} affected by this change."]
    if commit:
        parts.append(f"This branch now contains the fix: {code(commit[:12])}.")
    elif suggestions:
        visible = len(suggestions) - len(hidden)
        text = f"{_count(visible, 'edit')} can be applied below" if visible else "No edit can be suggested inline"
        text += ", independently of each other" if visible > 1 else ""
        if hidden:
            text += (
                f"; {_count(len(hidden), 'edit')} only with the patch, because the lines are outside this pull"
                " request's diff or belong to edits elsewhere"
            )
        parts.append(f"{text}.")
    parts += [
        _rules(fixed),
        _not_fixed(document),
        "#### Evidence" if fixed else "",
        _CLAIM if fixed and document["evidence"] is not None else "",
        _evidence(document) if fixed else "",
    ]
    if suggestions and not commit:
        parts.append(_patch(diff))
    return _shorten([*(part for part in parts if part), _stop_notice(), REVIEW_MARKER])


def _rules(fixed: Sequence[Mapping[str, Any]]) -> str:
    if not fixed:
        return ""
    counted = Counter((item["code"], item["name"], item["applicability"] or "safe") for item in fixed)
    rows = [f"| {key[0]} | {code(key[1])} | {count} | {key[2]} |" for key, count in sorted(counted.items())]
    return "\n".join(["| rule | name | fixed | applicability |", "|---|---|---|---|", *rows])


def _details(fixed: Sequence[Mapping[str, Any]]) -> str:
    by_rule: dict[str, list[Mapping[str, Any]]] = {}
    for item in fixed[:_MAX_ROWS]:
        by_rule.setdefault(item["code"], []).append(item)
    blocks = []
    for rule, items in sorted(by_rule.items()):
        lines = [f"- {code(_location(item))} {plain(item['message'])}; {plain(item['title'])}" for item in items]
        head = f"<details><summary>{rule}: {len(items)}</summary>"
        more = f"{code(f'devfix explain {rule}')} explains the bug and the safety of the fix."
        blocks.append("\n".join([head, "", *lines, "", more, "", "</details>"]))
    return "\n\n".join(blocks)


def _evidence(document: Mapping[str, Any]) -> str:
    found = document["evidence"]
    if found is None:
        return f"Nothing was run: {plain(document['not_verified'])}."
    rows = [
        f"| {code(run['name'])} | {code(run['outcome'].splitlines()[0] if run['outcome'] else '')} | {run['steps']} |"
        f" {_number(run['first_loss'])} | {_number(run['last_loss'])} | {_number(run['largest_difference'])} |"
        for run in found["runs"]
    ]
    return "\n".join(
        [
            f"**{plain(found['status'])}**: {plain(found['reason'])}  ",
            f"{code(found['command'])}, on {plain(found['where'])}",
            "",
            "| run | outcome | steps | first loss | last loss | largest difference |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )


def _number(text: str | None) -> str:
    return "" if text is None else text


def _not_fixed(document: Mapping[str, Any]) -> str:
    remaining = [item for item in document["findings"] if item["status"] in ("not-fixed", "fixable")]
    lines = [
        f"- {code(_location(item))} {item['code']}: {plain(item['message'])}"
        + (f" ({plain(item['reason'])})" if item["reason"] else "")
        for item in remaining[:_MAX_ROWS]
    ]
    lines += [f"- {code(_location(each))} {plain(each['message'])}" for each in document["problems"][:_MAX_ROWS]]
    if not lines:
        return ""
    return "\n".join(["<details><summary>Not fixed, and why</summary>", "", *lines, "", "</details>"])


def _location(item: Mapping[str, Any]) -> str:
    return f"{item['path']}:{item['line']}" if item["line"] else str(item["path"])


def _verify_command(document: Mapping[str, Any]) -> str:
    found = document["evidence"]
    if found is None:
        return ""
    script, _, arguments = one_line(found["command"]).partition(" ")
    return f"devfix verify {script}" + (f" -- {arguments}" if arguments else "") + "\n"


def _patch(diff: str) -> str:
    if len(diff) > _MAX_DIFF:
        return "The patch is too long for a comment: `devfix apply . --diff` prints it."
    if has_invisible(diff):
        return "The patch contains invisible characters: `devfix apply . --diff` prints it."
    return "\n".join(
        ["<details><summary>The whole patch, for git apply</summary>", "", fenced(diff, "diff"), "</details>"]
    )


def _opt_out() -> str:
    return (
        "### Disable\n\nComment `stop` or add the label `devfix: ignore`, and devfix no longer changes this"
        " pull request."
        " If you close it, devfix does not reopen it with the same patch."
        " Set `[tool.devfix.bot] enabled = false` in pyproject.toml to disable the bot."
    )


def _stop_notice() -> str:
    return "<sub>Comment `stop` or add the label `devfix: ignore` to stop devfix in this pull request.</sub>"


def _shorten(parts: Sequence[str]) -> str:
    """Join the parts; replace the longest ones while the body exceeds the forge's limit."""
    result = list(parts)
    while len("\n\n".join(result)) > _MAX_BODY:
        longest = max(range(len(result)), key=lambda index: len(result[index]))
        result[longest] = "*Omitted because of its length: run `devfix check .`.*"
    return "\n\n".join(result)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
