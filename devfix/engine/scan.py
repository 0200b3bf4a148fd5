"""The scan of one program, from its entry file to its findings: reading, analysis, rules."""

from __future__ import annotations

import ast
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from devfix import analysis
from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.entrypoints import can_matter, computes_with_torch
from devfix.analysis.frame_stack import with_room
from devfix.analysis.program import Lookups, Program, merge_lookups
from devfix.analysis.torch.releases import named_release
from devfix.engine.dependencies import Dependencies, dependencies
from devfix.engine.entry_files import entry_check, is_library, is_packaged
from devfix.engine.failures import Failure
from devfix.engine.moved_numbers import SUBSCRIPTION as MOVED_NUMBERS
from devfix.engine.moved_numbers import MovedNumber
from devfix.engine.workspace import Workspace
from devfix.model import Coverage, Event, Finding, PortTargets, Problem, Severity
from devfix.models.index import using
from devfix.rules.levels import levelled
from devfix.sources import SourceFile
from devfix.sources.notebooks.cell_order import held_to_cells
from devfix.syntax import project_flags
from devfix.syntax.project_flags import NO_FLAGS
from devfix.syntax.tree import SourceTree, text_of

if TYPE_CHECKING:
    from devfix.analysis.observations import Subscription
    from devfix.analysis.program import Reader
    from devfix.config import Settings
    from devfix.rules.rule import Rule

__all__ = [
    "Hazard",
    "Identity",
    "Place",
    "Scan",
    "asks_for_more",
    "identity",
    "position",
    "scan_file",
    "scan_library",
    "scan_program",
    "syntax_problem",
    "unparsable",
]

DEEP_ENOUGH = 8_000  # Python frames: the interpreter recurses with the program

#: A function: the absolute path of its file, and its line.
Place = tuple[str, int]

#: Identifies a finding across scans.
Identity = tuple[str, str, int, int, str]


class Hazard(NamedTuple):
    """A failing operation and the value that makes it fail."""

    path: str
    consumer: str
    text: str


@dataclass
class Scan:
    """The result for one file: as a program, or as a library whose functions any caller calls."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    hidden: list[Finding] = field(default_factory=list)  # latent ones, if no severity was chosen
    hazards: Counter[Hazard] = field(default_factory=Counter)
    failures: frozenset[Failure] = frozenset()  # the same operations, with the calls that lead to them
    problems: list[Problem] = field(default_factory=list)
    partly: bool = False
    dependencies: Dependencies = field(default_factory=dependencies)
    is_program: bool = False
    is_packaged: bool = False  # in a package that others can install
    reached: frozenset[Place] = frozenset()  # functions that programs call: by this one, or left out of a library
    coverage: dict[int, Coverage] = field(default_factory=dict)  # what became of the functions of the file, by line

    @property
    def files(self) -> frozenset[str]:
        """Return the absolute paths of the files that were read or could not be read."""
        return self.dependencies.files

    @property
    def lookups(self) -> Mapping[str, frozenset[str]]:
        """Return the names that were looked for, by folder."""
        return self.dependencies.lookups

    @property
    def key(self) -> tuple[str, bool]:
        """Return the file, and whether it is followed as a program."""
        return self.path, self.is_program

    def positioned(self) -> Iterator[str]:
        """Yield the files in which a finding or a failure has a position."""
        for finding in self.findings:
            yield finding.path
            yield from (event.path for event in finding.events)
            yield from (path for fix in finding.fixes for path in fix.paths)
        for failure in self.failures:
            yield failure.path
            yield from (path for path, _ in failure.route)


def scan_program(space: Workspace, path: str, watch: analysis.Watch | None = None) -> Scan:
    """Analyse the program that starts at ``path``; of a file that starts none, the scan is empty.

    An internal error becomes a problem of this file only.  Of a long data literal only a few lines are analysed first;
    if there is a finding, all of them.  ``watch`` sees each value, and may end the scan by an exception that is not an
    ``Exception``.
    """
    return _scan_with_literals(space, lambda: _scan_once(space, path, None, watch))


def scan_library(
    space: Workspace, path: str, reached: Iterable[Place] = (), watch: analysis.Watch | None = None
) -> Scan:
    """Analyse the functions of a file, except those in ``reached``, as any caller would call them."""
    here = os.path.abspath(path)
    known = frozenset(place for place in reached if place[0] == here)
    return _scan_with_literals(space, lambda: _scan_once(space, path, known, watch))


def scan_file(space: Workspace, path: str, watch: analysis.Watch | None = None) -> Scan:
    """Analyse a file as a program if it is one, else as a library."""
    scan = scan_program(space, path, watch)
    return scan if scan.is_program or scan.problems else scan_library(space, path, (), watch)


def _scan_with_literals(space: Workspace, scan_once: Callable[[], Scan]) -> Scan:
    scan = scan_once()
    if not (scan.findings or scan.hazards or scan.partly) or not space.left_out(scan.files):
        return scan
    space.whole = True
    try:
        return scan_once()
    finally:
        space.whole = False


def _scan_once(space: Workspace, path: str, left_out: frozenset[Place] | None, watch: analysis.Watch | None) -> Scan:
    """Scan a file as a program, or, if functions to leave out are given, as a library."""
    scan = Scan(path, is_program=left_out is None)
    seen = _Seen({os.path.abspath(path)})

    def read(name: str) -> str | None:
        seen.files.add(sys.intern(os.path.abspath(name)))
        return space.text(name)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEP_ENOUGH))
    try:
        text = space.text(path)
        if text is None:
            return scan
        tree = space.parse(path, text)
        if left_out is None:
            scan.is_program, seen.lookups = entry_check(space, path, tree, read)
            if not scan.is_program:
                return scan
        elif not (computes_with_torch(tree.text) or asks_for_more(space.settings)):
            return scan  # it can only name a device
        elif not is_library(space, path, tree, seen.lookups, read, {line for _, line in left_out}):
            return scan
        else:
            scan.is_packaged = is_packaged(space, path, seen.lookups, read)
        flags = space.flags() if asks_for_more(space.settings) else NO_FLAGS
        with using(space.models), project_flags.using(flags):
            with_room(lambda: _analyse(space, scan, seen, read, left_out, watch))
    except SyntaxError as error:
        scan.problems.append(syntax_problem(path, error))
    except RecursionError:
        scan.problems.append(Problem(path, "nested too deeply to follow", hint="nothing was changed"))
    except _Theirs as error:
        scan.problems.append(Problem(path, str(error), hint="please report it to its authors"))
        if os.environ.get("DEVFIX_TRACEBACK"):
            raise
    except Exception as error:  # one bad file never stops the run
        told = f"internal error ({type(error).__name__}: {error})"
        scan.problems.append(Problem(path, told, hint="please report it; the file was left alone"))
        if os.environ.get("DEVFIX_TRACEBACK"):
            raise
    finally:
        sys.setrecursionlimit(limit)
        scan.dependencies = dependencies(seen.files, seen.lookups)
    return scan


@dataclass
class _Seen:
    """What a scan has read and looked for so far."""

    files: set[str]
    lookups: Lookups = field(default_factory=dict)


def _analyse(
    space: Workspace,
    scan: Scan,
    seen: _Seen,
    read: Reader,
    left_out: frozenset[Place] | None,
    watch: analysis.Watch | None,
) -> None:
    settings = space.settings
    rules = _rules_in_force(settings)
    subscriptions = [MOVED_NUMBERS, *(subscription for rule in rules for subscription in _subscriptions(rule))]
    common = settings.device, space.parse, watch, subscriptions
    root = space.root(scan.path)
    if left_out is None:
        observations = analysis.analyse(scan.path, read, root, *common)
    else:
        facts = space.facts(scan.path)
        here = _present_places(space, scan.path, left_out)
        observations = analysis.analyse_library(scan.path, read, root, here, *common, facts)
        if observations is not None:
            files, lookups = facts.dependencies(scan.path)
            seen.files |= files
            merge_lookups(observations.lookups, lookups)
    if observations is None:
        return
    every = [observations, *observations.configured]
    if any(not rule.default for rule in rules):
        targets = _targets(space, scan.path, seen.lookups, read)
        for one in every:
            one.targets = targets
    found: dict[Identity, Finding] = {}
    hidden: dict[Identity, Finding] = {}
    for one in reversed(every):
        for finding, is_shown in _findings(space, scan, rules, one):
            (found if is_shown else hidden)[identity(finding)] = finding
    scan.findings = sorted(found.values(), key=position)
    scan.hidden = [finding for key, finding in hidden.items() if key not in found]
    scan.partly = not all(one.is_complete for one in every)
    scan.reached = frozenset(observations.reached) if left_out is None else left_out
    hazards = [each for one in every for each in _hazards(one)]
    scan.hazards = Counter(hazard for _, hazard in hazards)
    reads = {use.point for one in every for use in one.host_accesses.values()}
    scan.failures = frozenset(_failure(space, point, hazard, point in reads) for point, hazard in hazards)
    merge_lookups(seen.lookups, observations.lookups)
    scan.coverage = observations.coverage


def _present_places(space: Workspace, path: str, places: frozenset[Place]) -> frozenset[Place]:
    """Return functions of a file, whose lines are those of the given text, with their lines in the present text."""
    here = os.path.abspath(path)
    if here not in space.changed:
        return places
    tree = space.parse(path, space.changed[here])
    lines = [node.lineno for node in tree.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return frozenset((here, line) for line in lines if (here, space.given_line(path, line)) in places)


def _targets(space: Workspace, path: str, lookups: Lookups, read: Reader) -> PortTargets:
    """Return what ``devfix port`` makes the program run on, with the release of PyTorch that its project declares."""
    targets = space.settings.targets
    if targets.torch is not None:
        return targets
    program = Program(read, space.root(path))
    program.search_from(path)
    declared = named_release(program)
    merge_lookups(lookups, program.lookups)
    return replace(targets, torch=declared)


def unparsable(files: Sequence[SourceFile]) -> list[Problem]:
    """Return the syntax errors of files that no scan reads because they cannot contain a finding."""
    found = []
    for file in files:
        if not can_matter(file.raw):
            try:
                SourceTree(file.path, file.text, collapse_data=True)
            except SyntaxError as error:
                found.append(syntax_problem(file.path, error))
    return found


def syntax_problem(path: str, error: SyntaxError) -> Problem:
    """Return a syntax error as one problem."""
    message = f"cannot be parsed: {error.msg or error}"
    hint = "correct the syntax, or exclude the file"
    if "async=" in (error.text or "").replace(" ", ""):
        hint = "`async` is a keyword since Python 3.7: write non_blocking="
    return Problem(path, message, error.lineno or 0, hint)


def asks_for_more(settings: Settings) -> bool:
    """Return whether rules are selected that do not run by default: those of ``devfix port``."""
    return any(not rule.default for rule in _rules_in_force(settings))


def _rules_in_force(settings: Settings) -> list[Rule]:
    """Return the rules that run; findings of those that are not selected are dropped later."""
    from devfix.rules.registry import all_rules

    return [rule for rule in all_rules() if rule.default or settings.asks_for(rule.code)]


def _findings(
    space: Workspace, scan: Scan, rules: Sequence[Rule], observations: analysis.Observations
) -> Iterator[tuple[Finding, bool]]:
    """Yield each finding, and whether it is shown; hidden are latent ones, if no severity was chosen."""
    shown: set[Identity] = set()
    told: set[tuple[str, int]] = set()
    settings = space.settings
    beside_programs = not (settings.starts_no_program or scan.is_packaged)
    for rule in sorted(rules, key=lambda rule: rule.fallback):
        detected = list(_detected(rule, observations))
        assumes_callers = settings.assumes_callers and observations.is_library
        errors = {identity(each) for each in detected if each.severity is Severity.ERROR and assumes_callers}
        for finding, is_doubtful in levelled(detected, observations, beside_programs):
            if rule.fallback and any(_place(event) in told for event in finding.events if event.kind == "created"):
                continue  # another rule names the cause
            if not rule.fallback:
                told.update(_place(event) for event in finding.events)
            if not settings.enabled(finding.code, finding.path):
                continue
            same = space.original(held_to_cells(finding, space.cells, space.text))
            wanted = settings.reports(finding.severity) or not rule.default or identity(finding) in errors
            is_left_out = is_doubtful and not settings.includes_doubtful
            had_other_path = (*scan.key, *identity(same)) in space.errors  # which an edit has closed
            if identity(same) in shown:
                continue
            if had_other_path or (wanted and not is_left_out):
                shown.add(identity(same))
                yield same, True
            elif finding.severity is Severity.LATENT and settings.severity is None and not is_left_out:
                yield same, False


def _detected(rule: Rule, observations: analysis.Observations) -> Iterable[Finding]:
    """Return the findings of a rule; an error in a plugin rule is reported as the plugin's."""
    if not rule.origin:
        return rule.detect(observations)
    with _blaming(rule):
        return list(rule.detect(observations))


def _subscriptions(rule: Rule) -> Iterator[Subscription[Any]]:
    """Yield the subscriptions of a rule; an error in those of a plugin rule is reported as the plugin's."""
    for subscription in rule.subscriptions:
        yield subscription if not rule.origin else replace(subscription, handler=_guarded(rule, subscription.handler))


def _guarded(rule: Rule, handler: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        with _blaming(rule, but=(analysis.Unreachable, analysis.OutOfBudget, RecursionError)):
            return handler(*arguments)

    return call


@contextmanager
def _blaming(rule: Rule, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Report an error as the plugin's, except ``but``: the interpreter raises these to end a path or the analysis."""
    try:
        yield
    except Exception as error:
        if isinstance(error, (*but, _Theirs)):
            raise
        raise _Theirs(f"{rule.code} of {rule.origin} failed ({type(error).__name__}: {error})") from error


class _Theirs(Exception):
    """A plugin rule raised an error."""


def _place(event: Event) -> tuple[str, int]:
    """Return file and line of an event; an event path has one event per line."""
    return event.path, event.line


def _hazards(observations: analysis.Observations) -> Iterator[tuple[ProgramPoint, Hazard]]:
    """Yield every failing operation, whether a rule reports it or not: an edit must not add one."""
    found = [
        (mismatch.point, mismatch.operation, operand.text)
        for mismatch in observations.mismatches
        for operand in mismatch.cpu
    ]
    found += [(use.point, use.operation, text_of(use.expression)) for use in observations.host_accesses.values()]
    found += [(each.built, each.kind, each.optimizer) for each in observations.hazards if each.kind != "harmless"]
    found += [(each.point, "move", text_of(each.receiver)) for each in observations.of(MovedNumber)]
    for point, consumer, text in found:
        yield point, Hazard(point.tree.path, consumer, text)


def _failure(space: Workspace, point: ProgramPoint, hazard: Hazard, is_read: bool) -> Failure:
    """Return a failing operation with positions in the given texts."""
    calls = [(frame.tree, frame.stmt.lineno) for frame in point.call_stack]
    route = tuple((tree.path, space.given_line(tree.path, line)) for tree, line in calls)
    line = space.given_line(hazard.path, point.span.line)
    return Failure(hazard.path, line, hazard.consumer, hazard.text, route, is_read)


def position(finding: Finding) -> tuple[object, ...]:
    """Return the sort key of a finding."""
    return (finding.path, finding.span, finding.code, finding.message)


def identity(finding: Finding) -> Identity:
    """Return code, path, line, column and message."""
    return finding.code, finding.path, finding.span.line, finding.span.column, finding.message
