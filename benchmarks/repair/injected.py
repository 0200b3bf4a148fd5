"""Plant a bug, check that it fails, fix it with devfix, and compare the result with the original program."""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.repair.mutations import Mutation, mutated
from benchmarks.repair.operators import OPERATORS
from benchmarks.repair.programs import Program
from benchmarks.repair.traced import repaired_by_running

__all__ = ["OUTCOMES", "Mutant", "Result", "apply_to", "diff", "examine", "mutants", "run_program", "trains_alike"]

#: Outcomes of a mutant. The first two are controls: nothing was broken.
OUTCOMES = {
    "harmless": "runs and trains as before; devfix left it alone",
    "harmless-edited": "runs and trains as before; devfix edited it all the same, and it still does",
    "repaired": "runs and trains bit for bit as the program did",
    "repaired-by-run": "not repaired by reading; the same by running it (with --trace)",
    "repaired-unsafe": "the same, with --unsafe-fixes only",
    "reported": "not repaired; a finding tells of it",
    "missed": "not repaired; nothing is said",
    "wrong": "edited, and it fails or trains differently",
    "skipped": "the program or the mutant cannot be judged on the simulator",
}
TIMEOUT = 60.0


@dataclass(frozen=True)
class Mutant:
    """One bug in one file of one program."""

    program: Program
    path: str
    mutation: Mutation


@dataclass
class Result:
    """The result for one mutant."""

    operator: str
    program: str
    path: str
    line: int
    outcome: str
    killed: bool = False
    error: str = ""
    exact: bool = False
    same_line: bool = False
    idempotent: bool = True
    changed_lines: int = 0
    findings: list[str] = field(default_factory=list)
    planted: str = ""
    patch: str = ""
    after: str = ""
    refused: str = ""  # why running it did not repair it
    runs: int = 0  # on the accelerator, where it was repaired by running
    seconds: float = 0.0
    tried: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return asdict(self)


def mutants(programs: Sequence[Program], most: int | None, seed: int = 0) -> list[Mutant]:
    """Return the mutants of the programs: at most ``most`` per operator, sampled with a fixed seed."""
    from devfix.syntax.tree import SourceTree

    by_operator: dict[str, list[Mutant]] = {operator.name: [] for operator in OPERATORS}
    for program in programs:
        for path, text in program.files.items():
            tree = SourceTree(path, text)
            for operator in OPERATORS:
                for mutation in operator.mutations(tree):
                    if _parses(mutated(text, mutation.replacements)):
                        by_operator[operator.name].append(Mutant(program, path, mutation))
    chosen: list[Mutant] = []
    for found in by_operator.values():
        kept = found if most is None or len(found) <= most else random.Random(seed).sample(found, most)
        chosen.extend(kept)
    return sorted(chosen, key=lambda m: (m.program.name, m.path, m.mutation.line, m.mutation.operator))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def examine(chosen: Sequence[Mutant], jobs: int, by_running: bool = False) -> Iterator[Result]:
    """Run every mutant; results come in the order of the mutants, those of one program from one worker.

    With ``by_running`` what the rules do not repair is given to the repair by running.
    """
    groups: dict[str, list[Mutant]] = {}
    for mutant in chosen:
        groups.setdefault(mutant.program.name, []).append(mutant)
    if jobs <= 1:
        for group in groups.values():
            yield from _examine_group(group, by_running)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in [pool.submit(_examine_group, group, by_running) for group in groups.values()]:
            yield from future.result()


def _examine_group(group: list[Mutant], by_running: bool) -> list[Result]:
    """The mutants of one program, which share its reference runs."""
    program = group[0].program
    expected = {device: run_program(program, {}, device) for device in _devices(program)}
    if not all(run.ok and not run.unsupported for run in expected.values()):
        return [_result(mutant, "skipped") for mutant in group]
    return [_examine(mutant, _expected_of(mutant, expected), by_running) for mutant in group]


def _expected_of(mutant: Mutant, runs: dict[str, Any]) -> dict[str, Any]:
    """The runs of the correct program that the bug was planted into."""
    if not mutant.mutation.basis:
        return runs
    texts = mutant.program.files
    texts[mutant.path] = mutated(texts[mutant.path], mutant.mutation.basis)
    return {device: run_program(mutant.program, texts, device) for device in runs}


def _devices(program: Program) -> tuple[str, ...]:
    return ("sim", "cpu") if program.run_on == "sim" else ("sim",)


def _result(mutant: Mutant, outcome: str) -> Result:
    mutation = mutant.mutation
    return Result(mutation.operator, mutant.program.name, mutant.path, mutation.line, outcome)


def _examine(mutant: Mutant, expected: dict[str, Any], by_running: bool) -> Result:
    if not all(run.ok for run in expected.values()):
        return _result(mutant, "skipped")  # the program that the bug would be planted into does not run
    texts = mutant.program.files
    clean = mutated(texts[mutant.path], mutant.mutation.basis)
    texts[mutant.path] = mutated(texts[mutant.path], mutant.mutation.replacements)
    result = _result(mutant, "")
    result.planted = diff(clean, texts[mutant.path], mutant.path)
    broken = run_program(mutant.program, texts, "sim")
    if broken.timed_out or broken.unsupported:
        return replace(result, outcome="skipped", error=broken.outcome)
    result.killed = not trains_alike(broken, expected["sim"])
    result.error = "" if broken.ok else broken.outcome
    read, result.findings = apply_to(mutant.program, texts, unsafe=False)
    edited = "repaired" if result.killed else "harmless-edited"
    told = "reported" if result.findings else "missed"
    if read == texts:
        result.outcome = told if result.killed else "harmless"
    else:
        good = _judge(mutant, clean, texts, read, result, expected)
        result.outcome = edited if good else "wrong"
        result.idempotent = apply_to(mutant.program, read, unsafe=False)[0] == read
    if by_running and result.killed and result.outcome != "repaired":
        result.outcome = told  # an edit that no run proves is not made
        _repair_by_running(mutant, clean, texts, read, result, expected)
    elif result.outcome in ("reported", "missed"):
        asked, _ = apply_to(mutant.program, texts, unsafe=True)
        if asked != texts and _judge(mutant, clean, texts, asked, result, expected):
            result.outcome = "repaired-unsafe"
            result.idempotent = apply_to(mutant.program, asked, unsafe=True)[0] == asked
    return result


def _repair_by_running(
    mutant: Mutant,
    clean: str,
    texts: dict[str, str],
    read: dict[str, str],
    result: Result,
    expected: dict[str, Any],
) -> None:
    """Run ``apply --trace`` on the mutant after the static fixes, and return the outcome."""
    found = repaired_by_running(mutant.program, texts, read, TIMEOUT)
    result.refused, result.runs, result.seconds, result.tried = found.reason, found.runs, found.seconds, found.tried
    if found.texts is not None:
        good = _judge(mutant, clean, texts, found.texts, result, expected)
        result.outcome = "repaired-by-run" if good else "wrong"


def _judge(
    mutant: Mutant,
    clean: str,
    texts: dict[str, str],
    repaired: dict[str, str],
    result: Result,
    expected: dict[str, Any],
) -> bool:
    """Return whether a fixed mutant trains like the original program; record properties of the patch."""
    runs = {device: run_program(mutant.program, repaired, device) for device in expected}
    judged = _same if result.killed else trains_alike
    good = all(judged(runs[device], expected[device]) for device in runs)
    result.patch = "".join(diff(texts[path], repaired[path], path) for path in texts if texts[path] != repaired[path])
    result.after = next((run.outcome for run in runs.values() if not run.ok), "") or (
        "" if good else "trains differently"
    )
    result.exact = {**texts, mutant.path: clean} == repaired or _normal(repaired[mutant.path]) == _normal(clean)
    result.same_line = _near(repaired[mutant.path], texts[mutant.path], mutant.mutation.line)
    result.changed_lines = sum(
        line[:1] in "+-" and line[:3] not in ("+++", "---") for line in result.patch.splitlines()
    )
    return good


def apply_to(program: Program, texts: dict[str, str], unsafe: bool) -> tuple[dict[str, str], list[str]]:
    """Return the program's texts after ``devfix apply`` on its folder, and the findings."""
    from devfix import config
    from devfix.engine import fixpoint
    from devfix.rules.registry import all_rules
    from devfix.sources import SourceFile

    known = {rule.code: rule.name for rule in all_rules()}
    settings = replace(config.load([str(program.root)], known, isolated=True), unsafe_fixes=unsafe)
    files = [SourceFile(str(program.root / path), text.encode(), text) for path, text in texts.items()]
    outcome = fixpoint.apply(files, settings)
    new = dict(texts)
    for change in outcome.patch.files:
        new[Path(change.path).relative_to(program.root).as_posix()] = change.new.decode()
    told = [f"{r.finding.code} {r.status.value}: {r.finding.message} {r.reason}" for r in outcome.resolutions]
    return new, told


def run_program(program: Program, texts: dict[str, str], device: str) -> Any:
    from devfix.verify import run

    return run(
        program.script,
        program.args,
        device if program.run_on == "sim" else program.run_on,
        program.root,
        TIMEOUT,
        setup=program.setup,
        setup_script=program.setup_script,
        setup_device=device,
        changes={path: text.encode() for path, text in texts.items()},
    )


def trains_alike(one: Any, other: Any) -> bool:
    """Return whether a run succeeded and trained bit for bit like another."""
    if not one.ok or one.forgotten != other.forgotten:
        return False
    return (one.losses, one.digest, one.steps) == (other.losses, other.digest, other.steps)


def _same(one: Any, other: Any) -> bool:
    """Like the above, and no less of the training is on the accelerator."""
    from devfix.verify.verdict import describe_moved_work

    return trains_alike(one, other) and describe_moved_work(one, other) is None


def _normal(text: str) -> str:
    return ast.unparse(ast.parse(text))


def _near(repaired: str, broken: str, line: int) -> bool:
    """Return whether the edit touches the planted line or an adjacent line."""
    codes = difflib.SequenceMatcher(None, broken.split("\n"), repaired.split("\n"), autojunk=False).get_opcodes()
    changed = [(start, end) for tag, start, end, _, _ in codes if tag != "equal"]
    return any(start - 1 <= line <= end + 2 for start, end in changed)


def diff(old: str, new: str, path: str) -> str:
    """Return a unified diff with two lines of context."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=2)
    return "\n".join(lines) + "\n"
