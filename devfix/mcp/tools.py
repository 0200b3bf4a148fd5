"""The tools: what each runs, and how its report becomes an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from devfix.mcp.answers import (
    MOST_ITEMS,
    Applied,
    Cause,
    Checked,
    Diagnosed,
    Finding,
    MachineRun,
    PageOfText,
    Run,
    Verified,
    page_of,
)
from devfix.mcp.folders import Folders
from devfix.mcp.processes import run_command
from devfix.report.agent.lines import cut

__all__ = ["NotAllowed", "Tools"]

_MOST_FRAMES, _MOST_CAUSES, _MOST_DIFFERENCES = 5, 5, 20

Beat = Callable[[float], Awaitable[None]]


class NotAllowed(PermissionError):
    """A call that would run code, of a server that may not."""


class Tools:
    """The tools of one server.

    Args:
        folders: the folders that are served.
        may_run: whether scripts may run, in the sandbox of ``devfix verify``.

    """

    def __init__(self, folders: Folders, *, may_run: bool) -> None:
        self.folders = folders
        self.may_run = may_run

    async def check(self, paths: Sequence[str], select: Sequence[str], cursor: int, beat: Beat) -> Checked:
        """Report the findings in files and folders."""
        folder, words = self._targets(paths)
        report = await self._report(["check", *words, *_selected(select), "--output-format", "json"], folder, beat)
        found, following = page_of(report["findings"], cursor)
        fixable = any(each["fix"] for each in report["findings"])
        return Checked(
            findings=found,
            total=len(report["findings"]),
            next_cursor=following,
            checked_files=report["summary"]["checked_files"],
            problems=_problems(report),
            next=_then(report, "call apply to see the edits" if fixable else ""),
        )

    async def edit(
        self, command: str, paths: Sequence[str], options: Sequence[str], cursor: int, *, write: bool, beat: Beat
    ) -> Applied:
        """Return the edits of ``apply`` or ``port``, and write them if asked."""
        folder, words = self._targets(paths)
        report, diff = await self._edits([command, *words, *options], folder, beat)
        if write and report["changes"]:
            await run_command([command, *words, *options, "--output-format", "json"], folder, beat)
        fixed = [item for item in report["findings"] if item["status"] == "fixed"]
        left = [item for item in report["findings"] if item["status"] in ("fixable", "not-fixed")]
        step = "call verify with the script" if write else f"call {command} with write=true"
        return Applied(
            written=write and bool(report["changes"]),
            fixed=[Finding.of(item) for item in fixed[:MOST_ITEMS]],
            remaining=[Finding.of(item) for item in left[:MOST_ITEMS]],
            more=max(0, len(fixed) - MOST_ITEMS) + max(0, len(left) - MOST_ITEMS),
            diff=PageOfText.of(diff, cursor),
            problems=_problems(report),
            next=_then(report, step if report["changes"] else ""),
        )

    async def diagnose(self, log: str, project: str, cursor: int, beat: Beat) -> Diagnosed:
        """Find the cause of the device error in a log."""
        folder = self.folders.find(project)
        words = ["diagnose", "-", "--project", str(folder), "--output-format", "json"]
        done = await run_command(words, folder, beat, log)
        if not done.text:
            return _no_error("the log has no device error")
        report = json.loads(done.text)
        error, causes = report["error"], report["causes"]
        told = [
            Cause(
                place=cut(f"{each['path']}:{each['line']}"),
                code=each["rule"],
                message=cut(each["message"]),
                fix=None if each["edit"] is None else cut(each["edit"]),
            )
            for each in causes[:_MOST_CAUSES]
        ]
        diff = causes[0]["diff"] if causes else ""
        files = sorted({each["path"] for each in causes[:1]})
        step = f"call apply with paths {json.dumps(files)}, then verify" if diff else "call explain with the message"
        return Diagnosed(
            found=True,
            error=cut(f"{error['type']}: {error['message']}"),
            meaning=error["meaning"],
            frames=[cut(f"{each['path']}:{each['line']}: {each['source']}") for each in error["frames"][:_MOST_FRAMES]],
            causes=told,
            diff=PageOfText.of(diff, cursor),
            usual_causes=[] if told else error["causes"],
            next=step,
        )

    async def diagnose_run(self, script: str, arguments: Sequence[str], timeout: float, beat: Beat) -> Diagnosed:
        """Run a script on the simulated device, and find the cause of its device error."""
        self._must_be_allowed()
        target = self.folders.find(script)
        folder = self.folders.root_of(target)
        words = ["trace", str(target), "--device", "sim", "--timeout", str(timeout), "--output-format", "json"]
        done = await run_command([*words, "--", *arguments], folder, beat)
        report = json.loads(done.text)
        if report["error"] is None:
            return _no_error(cut(report["summary"]))
        error, edit = report["error"], report["edit"]
        places = [f"{each['path']}:{each['line']}" for each in error["frames"]]
        causes = []
        if report["cause"] is not None:
            causes.append(
                Cause(
                    place=cut(places[0]) if places else "",
                    code=report["cause"]["rule"],
                    message=cut(report["cause"]["sentence"]),
                    fix=cut(edit["title"]) if edit is not None and edit["diff"] else None,
                )
            )
        files = json.dumps(edit["changed"]) if edit is not None else "[]"
        return Diagnosed(
            found=True,
            error=cut(f"{error['type']}: {error['message']}"),
            meaning=cut(report["summary"]),
            frames=_frames(error["frames"]),
            causes=causes,
            diff=PageOfText.of(edit["diff"] if edit is not None else "", 0),
            usual_causes=[],
            next=f"call apply with paths {files}, then verify" if edit is not None and edit["diff"] else "call check",
        )

    async def verify(
        self, script: str, arguments: Sequence[str], patched: str, diff: str, options: Sequence[str], beat: Beat
    ) -> Verified:
        """Prove the edits of a script by running it."""
        self._must_be_allowed()
        target = self.folders.find(script)
        words = ["verify", str(target), *options, "--output-format", "json"]
        if patched:
            words += ["--patched", str(self.folders.find(patched))]
        elif diff:
            words += ["--patched", "-"]
        done = await run_command([*words, "--", *arguments], self.folders.root_of(target), beat, diff)
        report = json.loads(done.text)
        if "machines" in report:
            return _verified_on_machines(report)
        differences = report["outputs"]["differences"]
        proved = report["exit_code"] == 0
        return Verified(
            verdict=report["verdict"],
            proved=proved,
            reason=cut(report["reason"]),
            device=report["device"],
            runs=[_run(name, run) for name, run in report["runs"].items()],
            machines=[],
            differences=[cut(json.dumps(each, ensure_ascii=False)) for each in differences[:_MOST_DIFFERENCES]],
            next="nothing to do" if proved else "change the patch, or call explain with the failure's message",
        )

    async def explain(self, topic: str, cursor: int, beat: Beat) -> PageOfText:
        """Explain a rule or an error message."""
        done = await run_command(["explain", "--format", "md", "--", topic], self.folders.roots[0], beat)
        return PageOfText.of(done.text, cursor)

    def _targets(self, paths: Sequence[str]) -> tuple[Path, list[str]]:
        """Return the working directory, and the paths for the command line."""
        found = [self.folders.find(path) for path in paths] or [self.folders.roots[0]]
        folder = self.folders.root_of(found[0])
        return folder, [str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path) for path in found]

    async def _report(self, words: Sequence[str], folder: Path, beat: Beat) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((await run_command(words, folder, beat)).text)
        return report

    async def _edits(self, words: Sequence[str], folder: Path, beat: Beat) -> tuple[dict[str, Any], str]:
        """Return the report of a run that writes nothing, and the unified diff."""
        import tempfile

        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "report.json"
            told = ["--diff", "--output-format", "json", "--output-file", str(file)]
            done = await run_command([*words, *told], folder, beat)
            return json.loads(file.read_text(encoding="utf-8")), done.text

    def _must_be_allowed(self) -> None:
        if not self.may_run:
            raise NotAllowed("this server does not run code: start it with devfix mcp --allow-run")


def _selected(select: Sequence[str]) -> list[str]:
    return ["--select", ",".join(select)] if select else []


def _problems(report: dict[str, Any]) -> list[str]:
    told = [cut(f"{each['path']}: {each['message']}") for each in report["problems"]]
    more = len(told) - MOST_ITEMS
    return [*told[:MOST_ITEMS], *([f"… {more} more problems"] if more > 0 else [])]


def _then(report: dict[str, Any], step: str) -> str:
    if step:
        return step
    codes = sorted({each["code"] for each in report["findings"]})
    return f"call explain with {codes[0]}" if codes else "nothing to do"


def _frames(frames: list[dict[str, Any]]) -> list[str]:
    """Return the deepest lines of the program; a last line counts the others."""
    told = [cut(f"{each['path']}:{each['line']}: {each['source']}") for each in frames[:_MOST_FRAMES]]
    more = len(frames) - _MOST_FRAMES
    return [*told, *([f"… {more} more frames"] if more > 0 else [])]


def _no_error(told: str) -> Diagnosed:
    return Diagnosed(
        found=False,
        error="",
        meaning=told,
        frames=[],
        causes=[],
        diff=PageOfText.of("", 0),
        usual_causes=[],
        next="nothing to do",
    )


def _verified_on_machines(report: dict[str, Any]) -> Verified:
    rows = report["machines"]
    bad = [f"{row['machine']}: {row['difference']}" for row in rows if row["difference"] and not row["good"]]
    return Verified(
        verdict="portable" if report["portable"] else "not-portable",
        proved=report["portable"],
        reason=cut(report["summary"]),
        device=", ".join(row["machine"] for row in rows),
        runs=[],
        machines=[
            MachineRun(
                machine=row["machine"],
                simulated=row["simulated"],
                before=None if row["before"] is None else _ending(row["before"]),
                after=_ending(row["after"]),
                compared=row["compared"],
                good=row["good"],
            )
            for row in rows
        ],
        differences=[cut(each) for each in bad[:_MOST_DIFFERENCES]],
        next="nothing to do" if report["portable"] else "change the patch, or call explain with a failure's message",
    )


def _ending(run: dict[str, Any]) -> str:
    failure = run["failure"]
    if failure is None:
        return cut(run["outcome"])
    where = "" if failure["path"] is None else f"{failure['path']}:{failure['line']}: "
    return cut(f"{where}{failure['type']}: {failure['message']}")


def _run(name: str, run: dict[str, Any]) -> Run:
    losses, failure = [_number(each) for each in run["losses"]], run["failure"]
    where = "" if failure is None or failure["path"] is None else f"{failure['path']}:{failure['line']}: "
    return Run(
        name=name,
        outcome=run["outcome"],
        steps=run["steps"],
        first_loss=losses[0] if losses else None,
        last_loss=losses[-1] if losses else None,
        largest_difference=_number(run["largest_difference"]),
        failure=None if failure is None else cut(f"{where}{failure['type']}: {failure['message']}"),
    )


def _number(value: float | str | None) -> float | None:
    """Return a finite number; JSON has no others."""
    number = None if value is None else float(value)
    return number if number is not None and math.isfinite(number) else None
