"""Hand-written failures: positions are found by their source text."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from devfix.trace.diagnosis.context import Cause
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import DeviceName, FailureTrace, Owner, Package, Position, Value, ValueEvent, ValueName
from devfix.trace.repair.edited_sources import EditedSources


class Program:
    """A file of a project, and failures in it."""

    def __init__(self, root: Path, text: str, file: str = "train.py") -> None:
        self.root, self.file, self.text = root, file, dedent(text)
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text)

    @property
    def edited(self) -> EditedSources:
        return EditedSources(self.root)

    def at(self, fragment: str, function: str = "<module>") -> Position:
        """The position of the first expression or statement that reads so."""
        tree = ast.parse(self.text)
        node: Any = next(each for each in ast.walk(tree) if ast.get_source_segment(self.text, each) == fragment)
        span = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        line = self.text.splitlines()[span[0] - 1].strip()
        return Position(self.file, span[0], function, line, span, fragment)

    def made(self, fragment: str, function: str = "<module>", **more: object) -> ValueEvent:
        """The creation of a tensor on the CPU by an expression."""
        defaults: dict[str, Any] = {
            "operation": "aten::zeros",
            "device": "cpu",
            "index": 1,
            "predecessors": (),
            "names": (),
            "owner": None,
        }
        return ValueEvent("created", **{**defaults, "stack": (self.at(fragment, function),), "package": None, **more})

    def value(self, name: str, *history: ValueEvent, device: str = "cpu", kind: str = "tensor") -> Value:
        """A tensor that the failing line (frame 0) calls by a name."""
        return Value("other", (ValueName(0, name, True, kind),), (3,), "float32", device, False, history)

    def failure(
        self,
        misplaced: Value,
        peer: Value | None,
        where: Position,
        *,
        cause: str = "created-without-device",
        package: Package | None = None,
        devices: tuple[DeviceName, ...] = (),
    ) -> Diagnosis:
        """The diagnosis of a failure at ``where``."""
        values = (misplaced,) if peer is None else (misplaced, peer)
        failure = FailureTrace(
            "RuntimeError", "Expected", "mixed", (where,), None, "aten::add", None, values, {}, devices
        )
        origin = misplaced.history[0] if misplaced.history else None
        return Diagnosis(failure, misplaced, peer, origin, Cause(cause, "It is on the CPU.", package))

    def owned(self, kind: str, attribute: str, type_: str = "Net") -> Owner:
        """A module that keeps a tensor."""
        return Owner(type_, attribute, kind, (), (), None)


@pytest.fixture
def program(tmp_path):
    """Write a file of a project in an empty folder."""

    def written(text: str, file: str = "train.py") -> Program:
        return Program(tmp_path, text, file)

    return written
