"""Lines that hard-code a device beside one that the program chooses: which they are, and what they should say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from codemods._made import FOREIGN
from codemods._operands import device_for, weight_places
from codemods._placing import all_live, enclosing, headers, move_of
from devfix.flow import Facts
from devfix.flow.facts import Meeting, Placing
from devfix.flow.knowledge import RANDOM_FACTORIES
from devfix.flow.live import asks_for_accelerator, device_place, value_of, visible
from devfix.flow.machines import device_words, literal
from devfix.flow.sites import Level, Site
from devfix.flow.syntax import SourceTree
from devfix.flow.values import ACCELERATOR, CPU, Place, Ref, Tensor, Value, options
from devfix.model import AddKeyword, AppendCode, Edit, ReplaceExpression, ReplaceStatement

__all__ = ["Contradiction", "contradictions", "edits_for", "loads", "placed_again"]

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
        """Whether a device, tensor or module at a level of ``other`` is elsewhere than the call says."""
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
    return ast.unparse(call.func).split(".")[-1] in ("load", "load_file")


# --- what contradicts -----------------------------------------------------------------------------------------------
def contradictions(facts: Facts) -> Iterator[Contradiction]:
    """Every call that goes to another device than the one that the program chooses, each once."""
    found: dict[ast.Call, Contradiction] = {}
    for one in (*_without_accelerator(facts), *_of_another_index(facts), *_left_on_cpu(facts)):
        if not FOREIGN & set(PurePath(one.site.tree.path).parts):
            found.setdefault(one.call, one)
    yield from found.values()


def _without_accelerator(facts: Facts) -> Iterator[Contradiction]:
    """Accelerators that are used without asking, in a program that runs on the CPU where there is none."""
    other = facts.elsewhere
    if other is None or not facts.asks_available:
        return
    choice = next(_choices(facts, other), None)
    if choice is None:
        return
    for call, by_place in other.placings.items():
        placing, known = by_place.get(ACCELERATOR), facts.placings.get(call, {}).get(ACCELERATOR)
        words = device_words(call)
        if words is not None and ast.unparse(words) == facts.preferred_device:
            continue  # the configuration says so
        if placing is not None and known is not None and not known.latent and not _guarded(known.site):
            yield Contradiction(call, known.site, placing.site, ACCELERATOR, True, choice)


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
    """``cuda`` where the program works on ``cuda:1``, or on the index that it is told."""
    other = facts.elsewhere
    if other is None or facts.asks_available or facts.current_device:
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
            for call in moved:
                here, there = facts.placings.get(call, {}), other.placings.get(call, {})
                if ACCELERATOR in here and ACCELERATOR in there and not here[ACCELERATOR].latent:
                    sites = here[ACCELERATOR].site, there[ACCELERATOR].site
                    certain = facts.fixed_index
                    yield Contradiction(call, *sites, ACCELERATOR, certain, _moved_by(other, meeting), meeting)


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
    """Whether a value goes where another one is (``x.device``): what that one does is the cause."""
    words = device_words(placing.call)
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


# --- what it should say ---------------------------------------------------------------------------------------------
def edits_for(facts: Facts, one: Contradiction) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Titles and edits, best first."""
    words = _words(facts, one)
    declared = _told_at_construction(facts, one)
    if declared is not None:
        yield declared
    guarded = _under_its_flag(one)
    if guarded is not None and (words is None or words.startswith("next(")):
        yield "move it under the same condition", (guarded,)
    elif words is not None:
        edits = tuple(_with_device(one.site.tree, one.call, words))
        if edits:
            yield f"use `{words}`", edits


def placed_again(facts: Facts, one: Contradiction) -> Edit | None:
    """A move of the operand where it meets the others: what it is elsewhere stays on the CPU."""
    meeting = one.meeting
    if meeting is None or one.place != CPU:
        return None
    site = meeting.site
    partners = [other.text for other in meeting.accelerator if other.text not in ("", "…")]
    words = device_for(facts, site, site.level, partners)
    for operand in meeting.cpu:
        for node in ast.walk(site.node):
            if words and isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and ast.unparse(node) == operand.text:
                return AppendCode(site.tree.path, site.tree.span(node), f".to({words})")
    return None


def _words(facts: Facts, one: Contradiction) -> str | None:
    return device_for(facts, one.site, one.site.level, one.partners, fits=one.fits)


def _with_device(tree: SourceTree, call: ast.Call, words: str) -> Iterator[Edit]:
    """The call with another device."""
    path, func = tree.path, call.func
    given = device_words(call)
    if isinstance(func, ast.Attribute) and func.attr in ("cuda", "cpu"):
        kept = [f"{keyword.arg}={tree.source(keyword.value)}" for keyword in call.keywords if keyword.arg != "device"]
        code = f"{tree.source(func.value)}.to({', '.join([words, *kept])})"
        yield ReplaceExpression(path, tree.span(call), code)
    elif given is not None and literal(given) == "cuda" and isinstance(given, ast.Attribute):
        dtype = _DTYPES.get(given.attr)
        if dtype is not None and isinstance(func, ast.Attribute):
            yield ReplaceExpression(path, tree.span(call), f"{tree.source(func.value)}.to({words}, {dtype})")
    elif isinstance(func, ast.Attribute) and func.attr == "type":  # the argument names a type, not a device
        yield AppendCode(path, tree.span(call), f".to({words})")
    elif given is not None and literal(given) == "cpu" and _draws(call):
        yield AppendCode(path, tree.span(call), f".to({words})")  # the random numbers stay those of the CPU
    elif given is not None:
        yield ReplaceExpression(path, tree.span(given), words)
    elif isinstance(func, ast.Name):
        yield from _of_an_alias(tree, func, words)
    elif literal(func) == "cuda":
        yield ReplaceExpression(path, tree.span(func), tree.source(func).replace(".cuda.", ".", 1))
        yield AppendCode(path, tree.span(call), f".to({words})")


def _draws(call: ast.Call) -> bool:
    leaf = any(keyword.arg == "requires_grad" for keyword in call.keywords)
    return not leaf and ast.unparse(call.func).split(".")[-1] in RANDOM_FACTORIES


def _of_an_alias(tree: SourceTree, func: ast.Name, words: str) -> Iterator[Edit]:
    """``Tensor = torch.cuda.FloatTensor``, and every tensor that the function makes with it."""
    nodes = list(ast.walk(tree.function(func)))
    named = [node for node in nodes if isinstance(node, ast.Name) and node.id == func.id]
    parents = [tree.parents[node] for node in named]
    binding = [parent for node, parent in zip(named, parents, strict=True) if isinstance(node.ctx, ast.Store)]
    calls = [p for node, p in zip(named, parents, strict=True) if isinstance(p, ast.Call) and p.func is node]
    if len(binding) != 1 or len(calls) + 1 != len(named) or not isinstance(binding[0], ast.Assign):
        return
    value = binding[0].value
    if isinstance(value, ast.Attribute) and literal(value) == "cuda":
        yield ReplaceExpression(tree.path, tree.span(value), tree.source(value).replace(".cuda.", ".", 1))
        yield from (AppendCode(tree.path, tree.span(call), f".to({words})") for call in calls)


_DTYPES = {
    "FloatTensor": "torch.float",
    "DoubleTensor": "torch.double",
    "HalfTensor": "torch.half",
    "LongTensor": "torch.long",
    "IntTensor": "torch.int",
    "BoolTensor": "torch.bool",
    "ByteTensor": "torch.uint8",
}


def _told_at_construction(facts: Facts, one: Contradiction) -> tuple[str, tuple[Edit, ...]] | None:
    """Where a default of the function, or of the class, is what contradicts: the caller says the device."""
    words = device_words(one.call)
    if isinstance(words, ast.Name):
        name, found = words.id, _callers(one.site, one.other)
    elif isinstance(words, ast.Attribute) and isinstance(words.value, ast.Name):
        name, found = words.attr, _makers(one, words.value.id)
    else:
        return None
    if found is None:
        return None
    level, there, call, function = found
    given = any(keyword.arg in (name, None) for keyword in call.keywords)
    if given or not _by_default(function, name, len(call.args)):
        return None
    device = device_for(facts, one.site, level, fits=lambda text: one.fits(text, there))
    if device is None:
        return None
    return f"say `{name}={device}`", (AddKeyword(level.tree.path, level.tree.span(call), name, device),)


Found = tuple[Level, Level, ast.Call, ast.arguments]


def _callers(site: Site, other: Site) -> Found | None:
    """The call of the function in which a moment is."""
    if len(site.levels) < 2 or len(other.levels) != len(site.levels):
        return None
    function = site.level.frame.node
    call = _call_in(site.levels[-2], getattr(function, "name", ""))
    if call is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return site.levels[-2], other.levels[-2], call, function.args


def _makers(one: Contradiction, owner: str) -> Found | None:
    """The construction of the object whose attribute names the device."""
    sides = []
    for site in (one.site, one.other):
        value = visible(site, site.level).get(owner)
        if not isinstance(value, Ref) or site.memory is None:
            return None
        record = site.memory.record(value)
        if record.born is None or record.cls is None or not isinstance(record.born.node, ast.Call):
            return None
        sides.append((record.born, record.cls))
    (born, cls), (there, _) = sides
    start = next((s for s in cls.node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    call = born.node
    assert isinstance(call, ast.Call)
    return (born.level, there.level, call, start.args) if start is not None else None


def _call_in(level: Level, name: str) -> ast.Call | None:
    calls = [
        node
        for root in headers(level.stmt)
        for node in ast.walk(root)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    ]
    return calls[0] if len(calls) == 1 else None


def _by_default(arguments: ast.arguments, name: str, given: int) -> bool:
    """Whether a parameter has its literal default, with as many positional arguments as are given."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip([p.arg for p in plain][::-1], arguments.defaults[::-1], strict=False))
    defaults |= {p.arg: d for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    index = next((i for i, parameter in enumerate(plain) if parameter.arg == name), len(plain))
    bound = bool(plain) and plain[0].arg == "self"
    default = defaults.get(name)
    return default is not None and literal(default) is not None and given <= index - bound


def _under_its_flag(one: Contradiction) -> Edit | None:
    """The statement, under the condition under which the program moves other things."""
    move = move_of(one.choice)
    statement, tree = one.site.stmt, one.site.tree
    if move is None or move.guard is None or not all_live(one.site, one.site.level, move.guard.test):
        return None
    if not _only_moves(statement) or not isinstance(one.call.func, ast.Attribute):
        return None
    test = one.choice.tree.source(move.guard.test) if one.choice is not None else ""
    code = (f"if {test}:", f"    {tree.source(statement)}")
    return ReplaceStatement(tree.path, tree.span(statement), code)


def _only_moves(statement: ast.stmt) -> bool:
    """``x = x.cuda()``, ``x, y = x.cuda(), y.cuda()``, ``model.cuda()``: what may as well be left out."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    return all(_moves_back(*pair) for pair in pairs)


def _moves_back(target: ast.expr, value: ast.expr) -> bool:
    called = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    return called and ast.unparse(value.func.value) == ast.unparse(target)  # type: ignore[attr-defined]
