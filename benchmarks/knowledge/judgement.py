"""What ``devfix check`` says about the programs of confirmed examples."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.knowledge.examples import Confirmed

__all__ = ["Result", "judge"]

_FINDINGS_REMAIN = 1


class Result(NamedTuple):
    """Findings in the programs of one function.

    Attributes:
        confirmed: the example, with the placements that fail.
        reported: for each placement that fails, whether an error is reported on the line that fails.
        repaired: the findings of the repaired program; there should be none.
        mixed: the findings of the programs that run with operands on both devices.

    """

    confirmed: Confirmed
    reported: tuple[bool, ...]
    repaired: tuple[str, ...]
    mixed: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether the broken program is reported and the repaired one is not."""
        return self.reported[0] and not self.repaired

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values, with the broken program and the repaired one."""
        example = self.confirmed.example
        return {
            "group": example.group,
            "name": example.name,
            "known": self.known,
            "broken": example.program(self.confirmed.broken[0]),
            "repaired": example.program(self.confirmed.repaired),
            "placements": len(self.reported),
            "reported_placements": sum(self.reported),
            "findings_in_repaired": list(self.repaired),
            "findings_in_mixed": list(self.mixed),
        }


def judge(examples: Sequence[Confirmed], folder: Path | None = None) -> list[Result]:
    """Write each program to a file, check all files with one command, and return the findings by function.

    Args:
        examples: the confirmed examples.
        folder: a new folder in which the programs are kept; by default they are removed.

    Raises:
        FileExistsError: if the folder exists.
        RuntimeError: if ``devfix check`` fails.

    """
    if folder:
        folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        root = folder or Path(temporary)
        names = [_write(root, number, example) for number, example in enumerate(examples)]
        findings = _check(root)
    return [_result(example, named, findings) for example, named in zip(examples, names, strict=True)]


def _write(root: Path, number: int, confirmed: Confirmed) -> dict[str, str]:
    """Write the programs of one example, and return their texts by file name."""
    example = confirmed.example
    words = re.sub(r"\W+", "_", example.name).strip("_") or "operator"
    texts = {f"{kind}_{position}": example.program(placement) for kind, position, placement in _programs(confirmed)}
    found = {f"p{number:04}_{words}_{suffix}.py": text for suffix, text in texts.items()}
    for name, text in found.items():
        (root / name).write_text(text, encoding="utf-8")
    return found


def _programs(confirmed: Confirmed) -> Iterable[tuple[str, int, frozenset[int]]]:
    yield "repaired", 0, confirmed.repaired
    yield from (("broken", position, placement) for position, placement in enumerate(confirmed.broken))
    yield from (("mixed", position, placement) for position, placement in enumerate(confirmed.mixed))


def _check(root: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the findings of a folder by file name."""
    command = [sys.executable, "-m", "devfix", "check", str(root), "--isolated", "--no-cache"]
    done = subprocess.run(
        [*command, "--severity", "advice", "--output-format", "json"], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, _FINDINGS_REMAIN):
        raise RuntimeError(f"devfix check ended with {done.returncode}: {done.stderr.strip()}")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for finding in json.loads(done.stdout)["findings"]:
        found[Path(finding["path"]).name].append(finding)
    return found


def _result(confirmed: Confirmed, texts: dict[str, str], findings: dict[str, list[dict[str, Any]]]) -> Result:
    def messages(kind: str) -> tuple[str, ...]:
        chosen = [finding for name in texts if f"_{kind}_" in name for finding in findings.get(name, ())]
        return tuple(f"{finding['code']} {finding['message']}" for finding in chosen)

    broken = {name: text for name, text in texts.items() if "_broken_" in name}
    reported = tuple(
        any(_is_error_at(finding, text.count("\n")) for finding in findings.get(name, ()))
        for name, text in broken.items()
    )
    return Result(confirmed, reported, messages("repaired"), messages("mixed"))


def _is_error_at(finding: dict[str, Any], line: int) -> bool:
    """Whether a finding is an error that leads to the line."""
    lines = [finding["span"]["line"], *(event["line"] for event in finding["events"])]
    return finding["severity"] == "error" and line in lines
