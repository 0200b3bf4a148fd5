"""What pull requests and reviews say, as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from devfix.bot.markdown import code, fenced, plain
from devfix.bot.suggestions import Suggestion

__all__ = ["REVIEW_MARKER", "fingerprint", "group_marker", "pull_request", "review", "title"]

REVIEW_MARKER = "<!-- devfix:review -->"
_GROUP_MARKER = "<!-- devfix:group={group} patch={patch} -->"
_FINGERPRINT = re.compile(r"<!-- devfix:group=([a-z0-9._-]+) patch=([0-9a-f]{64}) -->")
_MOST_ROWS = 100
_MOST_DIFF = 30_000  # characters of a patch in a body: GitHub takes 65 536 for everything
_LONGEST = 60_000


def group_marker(group: str, patch: str) -> str:
    """What tells the bot's own pull requests, and what they hold: the patch's SHA-256."""
    return _GROUP_MARKER.format(group=group, patch=patch)


def fingerprint(body: str) -> tuple[str, str]:
    """Group and patch of a pull request's body; empty where it is none of ours."""
    found = _FINGERPRINT.findall(body)  # the last one is ours: what stands before may be told by the code
    return found[-1] if found else ("", "")


def title(findings: Sequence[Mapping[str, Any]]) -> str:
    """``fix(device): …``, by the names of the rules."""
    fixed = Counter(item["name"] for item in findings if item["status"] == "fixed")
    if len(fixed) == 1:
        ((name, many),) = fixed.items()
        return f"fix(device): {name}" + (f" in {many} places" if many > 1 else "")
    return f"fix(device): {sum(fixed.values())} device bugs of {len(fixed)} kinds"


def pull_request(document: Mapping[str, Any], group: str, patch: str, diff: str) -> str:
    """The body of a pull request of ``devfix bot open``; ``document`` is as in schema/artifact-2.json."""
    fixed = [item for item in document["findings"] if item["status"] == "fixed"]
    parts = [
        _what(len(fixed), len(document["files"])),
        "Only the lines that have to do with it are changed; each edit was read again after it was made.",
        _rules(fixed),
        _details(fixed),
        "### Evidence",
        _evidence(document),
        _left(document),
        "### Reproduce",
        fenced(f"pip install devfix\ndevfix check .\ndevfix apply . --diff\n{_verify(document)}", "console"),
        _opt_out(),
        f"<sub>{plain(document['tool'])} on {code(document['base'][:12])}</sub>",
        group_marker(group, patch),
    ]
    return _fitting([part for part in parts if part])


def _what(bugs: int, files: int) -> str:
    return (
        f"This repairs {_count(bugs, 'device bug')} in {_count(files, 'file')}:"
        " values that are on the CPU where the model is on the accelerator, or the other way round."
    )


def review(document: Mapping[str, Any], offered: Sequence[Suggestion], diff: str, made: str = "") -> str:
    """The body of a review, or of the note that speaks of a commit; ``made`` is the commit, if one was made."""
    fixed = [item for item in document["findings"] if item["status"] == "fixed"]
    outside = [each for each in offered if not each.inside]
    parts = [f"**devfix** found {_count(len(document['findings']), 'device bug')} that this change has to do with."]
    if made:
        parts.append(f"The repair is on this branch: {code(made[:12])}.")
    elif offered:
        inside = len(offered) - len(outside)
        told = f"{_count(inside, 'edit')} can be taken over below" if inside else "No edit can be suggested inline"
        told += ", each without the others" if inside > 1 else ""
        if outside:
            told += (
                f"; {_count(len(outside), 'edit')} only with the patch, outside of the lines that this pull request"
                " shows or together with edits elsewhere"
            )
        parts.append(f"{told}.")
    parts += [_rules(fixed), _left(document), "#### Evidence" if fixed else "", _evidence(document) if fixed else ""]
    if offered and not made:
        parts.append(_patch(diff))
    return _fitting([*(part for part in parts if part), _stop(), REVIEW_MARKER])


def _rules(fixed: Sequence[Mapping[str, Any]]) -> str:
    if not fixed:
        return ""
    counted = Counter((item["code"], item["name"], item["applicability"] or "safe") for item in fixed)
    rows = [f"| {key[0]} | {code(key[1])} | {many} | {key[2]} |" for key, many in sorted(counted.items())]
    return "\n".join(["| rule | name | repaired | applicability |", "|---|---|---|---|", *rows])


def _details(fixed: Sequence[Mapping[str, Any]]) -> str:
    by_rule: dict[str, list[Mapping[str, Any]]] = {}
    for item in fixed[:_MOST_ROWS]:
        by_rule.setdefault(item["code"], []).append(item)
    blocks = []
    for rule, items in sorted(by_rule.items()):
        lines = [f"- {code(_place(item))} {plain(item['message'])}; {plain(item['title'])}" for item in items]
        head = f"<details><summary>{rule}: {len(items)}</summary>"
        more = f"{code(f'devfix explain {rule}')} tells why, and how safe the edit is."
        blocks.append("\n".join([head, "", *lines, "", more, "", "</details>"]))
    return "\n\n".join(blocks)


def _evidence(document: Mapping[str, Any]) -> str:
    found = document["evidence"]
    if found is None:
        return f"Nothing was run: {plain(document['not_verified'])}."
    rows = [
        f"| {code(run['name'])} | {code(run['outcome'].splitlines()[0] if run['outcome'] else '')} | {run['steps']} |"
        f" {_figure(run['first_loss'])} | {_figure(run['last_loss'])} | {_figure(run['largest_difference'])} |"
        for run in found["runs"]
    ]
    return "\n".join(
        [
            f"**{plain(found['status'])}**: {plain(found['reason'])}  ",
            f"{code(found['command'])}, on {plain(found['where'])}",
            "",
            "| run | ended | steps | first loss | last loss | largest difference |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )


def _figure(text: str | None) -> str:
    return "" if text is None else text


def _left(document: Mapping[str, Any]) -> str:
    left = [item for item in document["findings"] if item["status"] in ("not-fixed", "fixable")]
    lines = [
        f"- {code(_place(item))} {item['code']}: {plain(item['message'])}"
        + (f" ({plain(item['reason'])})" if item["reason"] else "")
        for item in left[:_MOST_ROWS]
    ]
    lines += [f"- {code(_place(each))} {plain(each['message'])}" for each in document["problems"][:_MOST_ROWS]]
    if not lines:
        return ""
    return "\n".join(["<details><summary>Not repaired, and why</summary>", "", *lines, "", "</details>"])


def _place(item: Mapping[str, Any]) -> str:
    return f"{item['path']}:{item['line']}" if item["line"] else str(item["path"])


def _verify(document: Mapping[str, Any]) -> str:
    found = document["evidence"]
    if found is None:
        return ""
    script, _, arguments = re.sub(r"[\x00-\x1f]+", " ", found["command"]).partition(" ")
    return f"devfix verify {script}" + (f" -- {arguments}" if arguments else "") + "\n"


def _patch(diff: str) -> str:
    if len(diff) > _MOST_DIFF:
        return "The patch is too long for a comment: `devfix apply . --diff` prints it."
    return "\n".join(
        ["<details><summary>The whole patch, for git apply</summary>", "", fenced(diff, "diff"), "</details>"]
    )


def _opt_out() -> str:
    return (
        "### Switch it off\n\nA comment that says `stop` or the label `devfix: ignore` leaves this pull request alone;"
        " close it, and it is not opened again with the same content."
        " `[tool.devfix.bot] enabled = false` in pyproject.toml switches the bot off."
    )


def _stop() -> str:
    return (
        "<sub>A comment that says `stop`, or the label `devfix: ignore`, keeps devfix out of this pull request.</sub>"
    )


def _fitting(parts: Sequence[str]) -> str:
    """The parts, without the longest details where a host would not take all of it."""
    kept = list(parts)
    while len("\n\n".join(kept)) > _LONGEST:
        longest = max(range(len(kept)), key=lambda index: len(kept[index]))
        kept[longest] = "*Left out here, for its length: `devfix check .` prints it.*"
    return "\n\n".join(kept)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
