"""Calls that hard-code a device beside one that the program chooses: which they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.domain.values import ACCELERATOR, CPU, Place, Ref, Tensor, Value, options
from devfix.analysis.move_observations import Placing
from devfix.analysis.observations import Meeting
from devfix.analysis.scenarios import device_words, literal
from devfix.analysis.scopes import asks_for_accelerator, device_place, value_of
from devfix.fixes.device_expression import weight_places
from devfix.fixes.devices.derived_devices import puts_back
from devfix.fixes.devices.model_parallel import in_halves
from devfix.fixes.insertion_point import enclosing
from devfix.fixes.modules.cpu_offload import stays
from devfix.fixes.vendored_code import foreign_part

__all__ = ["Contradiction", "contradictions", "loads"]

_WORDS_OF_CHOICE = ("cuda", "gpu", "device", "accel", "mps", "cpu", "xpu", "npu", "parallel", "dist", "rank", "apex")


@dataclass(frozen=True, eq=False)
class Contradiction:
    """A call that hard-codes its device.

    ``place`` is what it says, ``site`` the moment in the followed run and ``other`` that on the second machine (the
    same where the followed run shows it).  ``certain``: the program fails with what it says of itself; ``parked``: the
    value comes from the accelerator.
    """

    call: ast.Call
    site: Site
    other: Site
    place: Place
    certain: bool
    choice: Site | None = None
    meeting: Meeting | None = None
    parked: bool = False

    @property
    def partners(self) -> list[str]:
        """What the value meets, in the words of the function that places it."""
        if self.meeting is None or self.meeting.site.level.frame.node is not self.site.level.frame.node:
            return []
        return [operand.text for operand in (*self.meeting.cpu, *self.meeting.accelerator) if operand.text != "…"]

    def fits(self, text: str, level: Level | None = None) -> bool:
        """Whether a device, tensor or module at a level of ``other``, but what is moved, is not where the call says."""
        if isinstance(self.call.func, ast.Attribute) and ast.unparse(self.call.func.value) == text:
            return False
        try:
            node = ast.parse(text, mode="eval").body
        except SyntaxError:
            return False
        value = value_of(self.other, level or self.other.level, node)
        wanted = {CPU} if self.place == ACCELERATOR else {ACCELERATOR}
        return value is not None and _places(self.other, value) == wanted


def _places(site: Site, value: Value) -> set[object]:
    found: set[object] = set()
    for option in options(value):
        if isinstance(option, Tensor):
            found.add(option.place)
        elif isinstance(option, Ref):
            found |= set(weight_places(site, option, set()))
        else:
            found.add(device_place(option))
    return found


def loads(call: ast.Call) -> bool:
    """Whether a call reads a file: its device is another rule's matter."""
    return ast.unparse(call.func).split(".")[-1] in ("load", "load_file", "safe_open")


# --- what contradicts -----------------------------------------------------------------------------------------------
def contradictions(facts: Facts) -> Iterator[Contradiction]:
    """Every call that goes to another device than the one that the program chooses, each once."""
    found: dict[ast.Call, Contradiction] = {}
    for one in (*_without_accelerator(facts), *_of_another_index(facts), *_left_on_cpu(facts)):
        if not foreign_part(one.site.tree.path):
            found.setdefault(one.call, one)
    yield from found.values()


def _without_accelerator(facts: Facts) -> Iterator[Contradiction]:
    """Accelerators that are used without asking, in a program that runs on the CPU where there is none."""
    other = facts.elsewhere
    if other is None or not facts.asks_available or (facts.foreign_index is None and _names_more_than_one(facts)):
        return
    choice = next(_choices(facts, other), None)
    if choice is None:
        return
    for call, by_place in other.placings.items():
        placing, known = by_place.get(ACCELERATOR), facts.placings.get(call, {}).get(ACCELERATOR)
        words = device_words(call)
        if words is not None and ast.unparse(words) == facts.preferred_device:
            continue  # the configuration says so
        if words is not None and facts.foreign_index is not None and literal(words) == facts.foreign_index:
            continue  # a second accelerator, as long as nothing meets
        if placing is not None and known is not None and not known.latent and not _spared(known):
            yield Contradiction(call, known.site, placing.site, ACCELERATOR, True, choice)


def _names_more_than_one(facts: Facts) -> bool:
    """Whether moves go to ``cuda:1`` by name: a program for several accelerators has thought of where things are."""
    said = (device_words(call) for call, places in facts.placings.items() if ACCELERATOR in places)
    named = (literal(words) for words in said if words is not None)
    return any(text is not None and text.partition(":")[2] not in ("", "0") for text in named)


def _choices(facts: Facts, other: Facts) -> Iterator[Site]:
    """Moves that go to the accelerator where there is one, and nowhere or to the CPU where there is none."""
    for call, by_place in facts.placings.items():
        placing = by_place.get(ACCELERATOR)
        if placing is None or placing.latent:
            continue
        there = other.placings.get(call, {})
        if ACCELERATOR not in there and (CPU in there or _asks_around(placing.site)):
            yield placing.site


def _asks_around(site: Site) -> bool:
    tests = [stmt.test for stmt in enclosing(site.tree, site.stmt, (ast.If,)) if isinstance(stmt, ast.If)]
    tests += [node.test for node in site.tree.ancestors(site.node) if isinstance(node, ast.IfExp)]
    return any(asks_for_accelerator(test) for test in tests)


def _spared(placing: Placing) -> bool:
    """Whether a move asks before it goes to the accelerator, or goes where another value is: no line says where."""
    return _follows(placing) or _guarded(placing.site)


def _guarded(site: Site) -> bool:
    """Whether something on the way to a moment may ask for the accelerator: then its author has thought of it."""
    for level in site.levels:
        for parent in (level.stmt, *level.tree.ancestors(level.stmt)):
            if isinstance(parent, ast.Try):
                return True
            if isinstance(parent, (ast.If, ast.While)) and parent is not level.stmt and _speaks_of_choice(parent.test):
                return True
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                break
    for parent in site.tree.ancestors(site.node):
        if isinstance(parent, (ast.IfExp, ast.If, ast.While)) and _speaks_of_choice(parent.test):
            return True
        if isinstance(parent, ast.BoolOp):
            return True
        if isinstance(parent, ast.stmt):
            break
    return False


def _speaks_of_choice(test: ast.expr) -> bool:
    text = ast.unparse(test).lower()
    return any(word in text for word in _WORDS_OF_CHOICE)


def _of_another_index(facts: Facts) -> Iterator[Contradiction]:
    """``cuda`` where the program works on ``cuda:1``, or on the index that it is told; ``cuda:1`` where it chooses."""
    other = facts.elsewhere
    asked = facts.asks_available and facts.foreign_index is None
    if other is None or asked or facts.current_device or in_halves(facts):
        return
    known = {(meeting.site.key, operand.text) for meeting in facts.meetings for operand in meeting.cpu}
    calls = list(other.placings)
    for meeting in other.meetings:
        if any((meeting.site.key, operand.text) in known for operand in meeting.cpu):
            continue
        for operand in meeting.accelerator:
            moved = [calls[birth.key] for birth in operand.births if birth.kind == "moved"]
            if operand.module is not None and meeting.site.memory is not None:
                site = meeting.site.memory.record(operand.module).moved
                moved = [site.node] if site is not None and isinstance(site.node, ast.Call) else []
            moved = moved or _alone_there(facts, other)
            for call in moved if not facts.asks_available else _beside(facts, moved):
                here, there = facts.placings.get(call, {}), other.placings.get(call, {})
                if ACCELERATOR in here and ACCELERATOR in there and not here[ACCELERATOR].latent:
                    sites = here[ACCELERATOR].site, there[ACCELERATOR].site
                    certain = facts.fixed_index
                    yield Contradiction(call, *sites, ACCELERATOR, certain, _moved_by(other, meeting), meeting)


def _alone_there(facts: Facts, other: Facts) -> list[ast.Call]:
    """The one call that names the foreign index, where nothing else goes to an accelerator on the second machine.

    What comes out of a module's weights tells of no move, and can be on an accelerator for no other reason.
    """
    there = [call for call, places in other.placings.items() if ACCELERATOR in places]
    return there if len(there) == 1 and _is_foreign(facts, there[0]) else []


def _beside(facts: Facts, moved: list[ast.Call]) -> Iterator[ast.Call]:
    """Those of some moves that name the foreign index, each with the others of its function: they go together."""
    functions = {facts.placings[call][ACCELERATOR].site.level.frame.node for call in moved if _is_foreign(facts, call)}
    foreign = [call for call in facts.placings if functions and _is_foreign(facts, call)]
    return (call for call in foreign if facts.placings[call][ACCELERATOR].site.level.frame.node in functions)


def _is_foreign(facts: Facts, call: ast.Call) -> bool:
    words = device_words(call)
    if words is None or ACCELERATOR not in facts.placings.get(call, {}):
        return False
    return literal(words) == facts.foreign_index


def _moved_by(other: Facts, meeting: Meeting) -> Site | None:
    """What sent the other side where it is."""
    for operand in meeting.cpu:
        if operand.module is not None and meeting.site.memory is not None:
            return meeting.site.memory.record(operand.module).moved
    return None


def _left_on_cpu(facts: Facts) -> Iterator[Contradiction]:
    """``.to("cpu")`` and ``.cpu()`` of what meets the accelerator afterwards."""
    calls = list(facts.placings)
    for meeting in facts.meetings:
        for operand in meeting.cpu:
            call: ast.AST | None = None
            if operand.module is not None and meeting.site.memory is not None:
                moved = meeting.site.memory.record(operand.module).moved
                if moved is None or _was_there(moved, operand.module):
                    continue
                if stays(facts, meeting.site, operand.module):
                    continue  # it is on the CPU on purpose: DEV602 speaks
                call = moved.node
            elif len(operand.births) == 1 and operand.births[0].kind == "moved":
                call = calls[operand.births[0].key]
            elif len(operand.births) == 1 and operand.births[0].kind == "made":
                call = facts.sources[operand.births[0].key].site.node
            placing = _on_cpu(facts, call)
            kept = any(birth.holder for birth in operand.births)
            if placing is not None and not kept and operand.sure and not _follows(placing):
                parked = placing.came == ACCELERATOR
                site, certain = placing.site, not meeting.latent
                yield Contradiction(placing.call, site, site, CPU, certain, None, meeting, parked)


def _follows(placing: Placing) -> bool:
    """Whether a value goes where another one is, or was (``x.device``): what that one does is the cause."""
    words = device_words(placing.call)
    if puts_back(placing.site):
        return True
    if not isinstance(words, ast.Attribute) or words.attr != "device":
        return False
    base, memory = value_of(placing.site, placing.site.level, words.value), placing.site.memory
    declared = isinstance(base, Ref) and memory is not None and "device" in memory.record(base).fields
    return not declared


def _was_there(moved: Site, module: Ref) -> bool:
    """Whether a module came from the accelerator: bringing it back is another rule's matter."""
    assert moved.memory is not None
    return not moved.memory.has(module.id) or ACCELERATOR in set(weight_places(moved, module, set()))


def _on_cpu(facts: Facts, call: ast.AST | None) -> Placing | None:
    if not isinstance(call, ast.Call):
        return None
    by_place = facts.placings.get(call, {})
    return by_place.get(CPU) if ACCELERATOR not in by_place else None
