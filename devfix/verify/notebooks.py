"""A notebook that is run: its program for the probe, and lines of what it tells as cells and lines in them."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from typing import Any

from devfix import sources
from devfix.verify.records import RunError
from devfix.verify.sandbox import Scratch

__all__ = ["Exported"]


@dataclass(frozen=True)
class Exported:
    """A script as it is run.

    Attributes:
        script: its path within the project.
        path: where it lies in the scratch copy.
        text: the notebook's program; empty for a Python file.
        options: for the probe.

    """

    script: str
    path: str
    text: str = ""
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, scratch: Scratch, script: str) -> Exported:
        """Write the program of a notebook beside the scratch copy; of a Python file there is nothing to write.

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
            told = error.problem
            hint = f"; {told.hint}" if told.hint else ""
            raise RunError(f"{script} {told.message}{hint}") from error
        if not text:
            raise RunError(f"{script} does not speak of torch, or is no notebook of Python: there is nothing to run")
        program = scratch.folder / f"program-{uuid.uuid4().hex}.json"
        program.write_text(json.dumps(runnable(text)), encoding="utf-8")
        return cls(script, str(path), text, ("--program", str(program)))

    def located(self, report: dict[str, Any]) -> dict[str, Any]:
        """A report in which lines of the notebook have their ``place``, the cell and the line in it."""
        if not self.text or not report:
            return report
        from devfix.sources.notebooks import located

        for file in (self.script, self.path):
            report = located(self.text, report, file)
        failure = report.get("exception")
        if failure:
            failure["traceback"] = self.in_cells(failure["traceback"])
        return report

    def in_cells(self, output: str) -> str:
        """Output in which tracebacks name the notebook's cells."""
        if not self.text:
            return output
        from devfix.sources.notebooks import place_in

        def told(found: re.Match[str]) -> str:
            place = place_in(self.text, int(found[1]))
            return found[0] if place is None else f'File "{self.script}", cell {place[0]}, line {place[1]}'

        return re.sub(rf'File "{re.escape(self.path)}", line (\d+)', told, output)
