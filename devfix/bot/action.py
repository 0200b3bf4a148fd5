"""The step of action.yml: annotations, files, outputs, and a summary, from options that come as variables.

Run as ``python -m devfix.bot.action``.  What a workflow passes reaches no shell.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devfix.bot.markdown import code, plain

__all__ = ["main", "summary"]

_FAIL_ON = ("findings", "fixable", "never")
_MOST_ROWS = 200


class _Wrong(Exception):
    """An input that is none."""


def main(environment: Mapping[str, str]) -> int:
    """Do what the inputs ask for, and return the exit code."""
    try:
        return _main(environment)
    except _Wrong as error:
        print(f"::error title=devfix::{error}")
        return 2


def _main(environment: Mapping[str, str]) -> int:
    fail_on = environment.get("DEVFIX_FAIL_ON") or "findings"
    if fail_on not in _FAIL_ON:
        raise _Wrong(f"fail-on is one of {', '.join(_FAIL_ON)}, not {fail_on!r}")
    given, paths = _arguments(environment)
    folder = Path(environment.get("RUNNER_TEMP") or ".", "devfix")
    folder.mkdir(parents=True, exist_ok=True)
    report, sarif, diff = folder / "devfix.json", folder / "devfix.sarif", folder / "devfix.diff"
    checked = _devfix("check", [*given, "--output-format", "json", "--output-file", str(report)], paths, told=True)
    if checked.returncode not in (0, 1):
        return checked.returncode
    document = json.loads(report.read_text("utf-8"))
    if "findings" not in document:
        raise _Wrong("args may not hold --statistics: the summary counts, and what is kept needs each finding")
    kept = _devfix("check", [*given, "--quiet", "--output-format", "sarif", "--output-file", str(sarif)], paths)
    shown = _devfix("check", [*given, "--quiet", "--output-format", "github"], paths)
    if environment.get("DEVFIX_ANNOTATIONS") != "false":
        sys.stdout.write(shown.stdout)
    repair = _devfix("apply", ["--diff", "--quiet", *given], paths)
    diff.write_text(repair.stdout, "utf-8", "surrogateescape")
    failed = max(each.returncode for each in (kept, shown, repair))
    if failed not in (0, 1):
        return failed
    left = [item for item in document["findings"] if item["status"] in ("fixable", "not-fixed")]
    fixable = [item for item in left if item["fix"] and item["fix"]["applicability"] == "safe"]
    _append(
        environment.get("GITHUB_OUTPUT"),
        {
            "findings-count": len(left),
            "fixable-count": len(fixable),
            "sarif-file": sarif,
            "json-file": report,
            "diff-file": diff if diff.stat().st_size else "",
        },
    )
    where = environment.get("GITHUB_STEP_SUMMARY")
    if where and environment.get("DEVFIX_SUMMARY") != "false":
        with open(where, "a", encoding="utf-8") as file:
            file.write(summary(document))
    return int({"findings": checked.returncode == 1, "fixable": bool(fixable), "never": False}[fail_on])


def _arguments(environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    try:
        paths = shlex.split(environment.get("DEVFIX_PATHS", "")) or ["."]
        more = shlex.split(environment.get("DEVFIX_ARGS", ""))
    except ValueError as error:
        raise _Wrong(f"paths and args are words as in a shell: {error}") from error
    for name, flag in (("DEVFIX_SINCE", "--since"), ("DEVFIX_CONFIG", "--config")):
        if environment.get(name):
            more.append(f"{flag}={environment[name]}")
    return more, paths


def _devfix(
    verb: str, options: Sequence[str], paths: Sequence[str], told: bool = False
) -> subprocess.CompletedProcess[str]:
    """A run of devfix, which tells people of the findings: once for all runs is enough."""
    command = [sys.executable, "-m", "devfix", verb, *options, "--", *paths]
    pipe = subprocess.PIPE
    errors = None if told else pipe
    done = subprocess.run(command, stdout=pipe, stderr=errors, text=True, errors="surrogateescape", check=False)
    if done.returncode not in (0, 1) and not told:
        sys.stderr.write(done.stderr)
    return done


def _append(path: str | None, outputs: Mapping[str, object]) -> None:
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in outputs.items())


def summary(document: Mapping[str, Any]) -> str:
    """Tables of a report as in schema/report-2.json, in Markdown."""
    left = [item for item in document["findings"] if item["status"] in ("fixable", "not-fixed")]
    counted = Counter((item["code"], item["name"]) for item in left)
    lines = ["### devfix", ""]
    if left:
        lines += ["| rule | name | findings |", "|---|---|---|"]
        lines += [f"| {rule} | {code(name)} | {many} |" for (rule, name), many in sorted(counted.items())]
        lines += ["", "| where | what | repair |", "|---|---|---|"]
        lines += [_row(item) for item in left[:_MOST_ROWS]]
        lines += [f"| | and {len(left) - _MOST_ROWS} more | |"] if len(left) > _MOST_ROWS else []
    else:
        lines.append(f"No findings in {document['summary']['checked_files']} files.")
    lines += [f"- {code(each['path'])}: {plain(each['message'])}" for each in document["problems"][:_MOST_ROWS]]
    return "\n".join([*lines, ""])


def _row(item: Mapping[str, Any]) -> str:
    fix = item["fix"]
    repair = plain(fix["title"]) if fix else plain(item["reason"] or "")
    where = code(f"{item['path']}:{item['span']['line']}")
    return f"| {where} | {item['code']} {plain(item['message'])} | {repair} |"


if __name__ == "__main__":
    sys.exit(main(os.environ))
