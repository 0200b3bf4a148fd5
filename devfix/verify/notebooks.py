"""Notebooks under verification: export for the probe, and line numbers mapped back to cells."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from typing import Any

from devfix import sources
from devfix.verify.records import RunError
from devfix.verify.sandbox import Scratch

__all__ = ["RunnableScript"]


@dataclass(frozen=True)
class RunnableScript:
    """A script or notebook in a scratch copy, ready to run.

    Attributes:
        script: its path within the project.
        path: its path in the scratch copy.
        text: the notebook's source; empty for a Python file.
        options: probe options.

    """

    script: str
    path: str
    text: str = ""
    options: tuple[str, ...] = ()

    @classmethod
    def prepare(cls, scratch: Scratch, script: str) -> RunnableScript:
        """Export a notebook's program beside the scratch copy; a Python file needs no export.

        Raises:
            RunError: the notebook cannot be read.

        """
        path = scratch.project / script
        if not script.endswith(sources.NOTEBOOK):
            return cls(script, str(path))
        from devfix.sources.notebooks import runnable

        try:
            text = sources.read(str(path)).text
        except sources.SourceError as error:
            problem = error.problem
            hint = f"; {problem.hint}" if problem.hint else ""
            raise RunError(f"{script} {problem.message}{hint}") from error
        if not text:
            raise RunError(f"{script} does not use torch or is not a Python notebook: there is nothing to run")
        program = scratch.folder / f"program-{uuid.uuid4().hex}.json"
        program.write_text(json.dumps(runnable(text)), encoding="utf-8")
        return cls(script, str(path), text, ("--program", str(program)))

    def add_cell_positions(self, report: dict[str, Any]) -> dict[str, Any]:
        """Return the report with ``place``, the cell and the line in it, added to each line of the notebook."""
        if not self.text or not report:
            return report
        from devfix.sources.notebooks import located

        for file in (self.script, self.path):
            report = located(self.text, report, file)
        failure = report.get("exception")
        if failure:
            failure["traceback"] = self.name_cells(failure["traceback"])
        return report

    def name_cells(self, output: str) -> str:
        """Return the output with notebook lines in tracebacks replaced by cells."""
        if not self.text:
            return output
        from devfix.sources.notebooks import place_in

        def cell_reference(found: re.Match[str]) -> str:
            place = place_in(self.text, int(found[1]))
            return found[0] if place is None else f'File "{self.script}", cell {place[0]}, line {place[1]}'

        return re.sub(rf'File "{re.escape(self.path)}", line (\d+)', cell_reference, output)
