"""The step of action.yml: annotations, output files, step outputs, and a job summary.

Options come from environment variables, so workflow input never reaches a shell.  Run as
``python -m devfix.bot.action``.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from devfix.bot.markdown import code, plain
from devfix.engine.import_path import module_command

__all__ = ["main", "summary"]

_FAIL_ON = ("findings", "fixable", "never")
_MAX_ROWS = 200


class _InvalidInput(Exception):
    """An invalid input of the action."""


def main(environment: Mapping[str, str]) -> int:
    """Run devfix with the action's inputs.

    Args:
        environment: the variables that action.yml sets.

    Returns:
        The exit code: 0 success, 1 findings as ``fail-on`` defines them, 2 invalid input or a missing path; the other
        paths are processed.

    """
    try:
        return _main(environment)
    except _InvalidInput as error:
        print(f"::error title=devfix::{error}")
        return 2


def _main(environment: Mapping[str, str]) -> int:
    fail_on = environment.get("DEVFIX_FAIL_ON") or "findings"
    if fail_on not in _FAIL_ON:
        raise _InvalidInput(f"fail-on must be one of {', '.join(_FAIL_ON)}, not {fail_on!r}")
    options, paths = _arguments(environment)
    folder = Path(environment.get("RUNNER_TEMP") or ".", "devfix")
    folder.mkdir(parents=True, exist_ok=True)
    report, sarif, diff = folder / "devfix.json", folder / "devfix.sarif", folder / "devfix.diff"
    to_json = ["--output-format", "json", "--output-file", str(report)]
    report.unlink(missing_ok=True)
    with _without_commands():
        checked = _devfix("check", [*options, *to_json], paths)
    if not report.exists():
        return checked.returncode or 2
    document = json.loads(report.read_text("utf-8"))
    if "findings" not in document:
        raise _InvalidInput("args must not contain --statistics: the summary and the artifacts need each finding")
    known = checked.returncode  # 2: a path is missing, and the others were processed
    to_sarif = ["--quiet", "--output-format", "sarif", "--output-file", str(sarif)]
    converted = _devfix("check", [*options, *to_sarif], paths, known)
    annotated = _devfix("check", [*options, "--quiet", "--output-format", "github"], paths, known)
    if environment.get("DEVFIX_ANNOTATIONS") != "false":
        sys.stdout.write(annotated.stdout)
    patched = _devfix("apply", ["--diff", "--quiet", *options], paths, known)
    diff.write_text(patched.stdout, "utf-8", "surrogateescape")
    worst = max(each.returncode for each in (converted, annotated, patched))
    if worst not in (0, 1, known):
        return worst
    remaining = [item for item in document["findings"] if item["status"] in ("fixable", "not-fixed")]
    fixable = [item for item in remaining if item["fix"] and item["fix"]["applicability"] == "safe"]
    _append(
        environment.get("GITHUB_OUTPUT"),
        {
            "findings-count": len(remaining),
            "fixable-count": len(fixable),
            "sarif-file": sarif,
            "json-file": report,
            "diff-file": diff if diff.stat().st_size else "",
        },
    )
    summary_file = environment.get("GITHUB_STEP_SUMMARY")
    if summary_file and environment.get("DEVFIX_SUMMARY") != "false":
        with open(summary_file, "a", encoding="utf-8") as file:
            file.write(summary(document))
    if known not in (0, 1):
        return known
    return int({"findings": checked.returncode == 1, "fixable": bool(fixable), "never": False}[fail_on])


def _arguments(environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    try:
        paths = shlex.split(environment.get("DEVFIX_PATHS", "")) or ["."]
        arguments = shlex.split(environment.get("DEVFIX_ARGS", ""))
    except ValueError as error:
        raise _InvalidInput(f"paths and args must be quoted as in a shell: {error}") from error
    for name, flag in (("DEVFIX_SINCE", "--since"), ("DEVFIX_CONFIG", "--config")):
        if environment.get(name):
            arguments.append(f"{flag}={environment[name]}")
    return arguments, paths


def _devfix(
    verb: str, options: Sequence[str], paths: Sequence[str], known: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``devfix``.

    Args:
        verb: the command.
        options: its options.
        paths: its paths.
        known: the exit code of the first run, which has reported everything; without it, output is shown.

    """
    command = [*module_command("devfix"), verb, *options, "--", *paths]
    stream = None if known is None else subprocess.PIPE
    done = subprocess.run(command, stdout=stream, stderr=stream, text=True, errors="surrogateescape", check=False)
    if known is not None and done.returncode not in (0, 1, known):
        with _without_commands():
            sys.stderr.write(done.stderr)
            sys.stderr.flush()
    return done


@contextmanager
def _without_commands() -> Iterator[None]:
    """Print lines that begin as a workflow command does, such as the path of a stranger's file, without obeying them.

    https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions#stopping-and-starting-workflow-commands
    """
    token = secrets.token_hex()
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        print(f"::{token}::", flush=True)


def _append(path: str | None, outputs: Mapping[str, object]) -> None:
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in outputs.items())


def summary(document: Mapping[str, Any]) -> str:
    """Return the job summary.

    Args:
        document: a report as in schema/report-2.json.

    Returns:
        Markdown tables of findings by rule and by location.

    """
    remaining = [item for item in document["findings"] if item["status"] in ("fixable", "not-fixed")]
    counted = Counter((item["code"], item["name"]) for item in remaining)
    lines = ["### devfix", ""]
    if remaining:
        lines += ["| rule | name | findings |", "|---|---|---|"]
        lines += [f"| {rule} | {code(name)} | {count} |" for (rule, name), count in sorted(counted.items())]
        lines += ["", "| location | finding | fix |", "|---|---|---|"]
        lines += [_row(item) for item in remaining[:_MAX_ROWS]]
        lines += [f"| | and {len(remaining) - _MAX_ROWS} more | |"] if len(remaining) > _MAX_ROWS else []
    else:
        lines.append(f"No findings in {document['summary']['checked_files']} files.")
    lines += [f"- {code(each['path'])}: {plain(each['message'])}" for each in document["problems"][:_MAX_ROWS]]
    return "\n".join([*lines, ""])


def _row(item: Mapping[str, Any]) -> str:
    fix = item["fix"]
    outcome = plain(fix["title"]) if fix else plain(item["reason"] or "")
    location = code(f"{item['path']}:{item['span']['line']}")
    return f"| {location} | {item['code']} {plain(item['message'])} | {outcome} |"


if __name__ == "__main__":
    sys.exit(main(os.environ))
