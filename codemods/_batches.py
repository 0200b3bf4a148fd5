"""Planning the move of batch items: beside a sibling, at the name that holds the item, or where it is used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codemods._operands import device_of_a_module
from codemods._parts import beside_parts
from codemods._placing import (
    Move,
    all_live,
    device_at,
    find_expression,
    headers,
    inside_module,
    last_move,
    names_in,
    same_function,
)
from devfix.flow import Facts
from devfix.flow.facts import Binding, Meeting, Transfer
from devfix.flow.live import module_names, value_of, visible
from devfix.flow.sites import Level, Site
from devfix.flow.state import State
from devfix.flow.syntax import SourceTree
from devfix.flow.values import Ref, Tensor, TupleValue, Value, Yields, options
from devfix.model import AppendCode, Edit, InsertStatement, Remedy, Where

__all__ = ["Culprit", "bindings_of", "candidates", "device_words", "held_value", "made_siblings", "shown"]

Item = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Culprit:
    """One batch item that stays on the CPU, with the operations in which it meets the accelerator."""

    key: int
    item: Item
    meetings: tuple[Meeting, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Placed:
    """One edit, and the words that tell it."""

    edit: Edit
    told: str


def shown(facts: Facts, culprit: Culprit) -> str:
    """What people call the item: its first name, else the expression that uses it."""
    names = [binding.name for binding in bindings_of(facts, culprit)]
    return names[0] if names else culprit.texts[0]


def bindings_of(facts: Facts, culprit: Culprit) -> list[Binding]:
    """The names that the item was bound to, one for each place."""
    found: dict[tuple[object, ...], Binding] = {}
    for binding in facts.bindings:
        if binding.birth.key == culprit.key and binding.birth.item == culprit.item and binding.birth.kind != "load":
            found.setdefault((binding.site.key, binding.name), binding)
    return list(found.values())


def candidates(facts: Facts, culprits: Sequence[Culprit]) -> Iterator[Remedy]:
    """Remedies for items of one batch, in the order in which an expert would try them."""
    origins = {(culprit.key, culprit.item) for culprit in culprits}
    near = beside_parts(facts, origins, [meeting for culprit in culprits for meeting in culprit.meetings])
    if near:
        yield Remedy("move " + ", ".join(f"`{shown(facts, culprit)}`" for culprit in culprits), tuple(near))
    wanted = {culprit.item for culprit in culprits}
    siblings = [
        transfer
        for transfer in facts.transfers
        if transfer.birth.key == culprits[0].key
        and transfer.place == "accelerator"
        and transfer.birth.item not in wanted
    ] or made_siblings(facts, culprits[0])
    for plan in (_beside_siblings, _by_helper, _at_names, _containers, _at_uses):
        placed: list[_Placed] = []
        for culprit in culprits:
            parts = plan(facts, culprit, siblings)
            if parts is None:
                break
            placed.extend(parts)
        else:
            edits = _under_one_flag(dict.fromkeys(part.edit for part in placed))
            if edits:
                told = ", ".join(dict.fromkeys(part.told for part in placed))
                yield Remedy(f"move {told}", edits)


def _under_one_flag(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Statements that go to one place under the same flag share one ``if``."""
    merged: list[Edit] = []
    for edit in edits:
        last = merged[-1] if merged else None
        if isinstance(edit, InsertStatement) and isinstance(last, InsertStatement) and edit.code.startswith("if "):
            head, body = edit.code.split("\n", 1)
            if replace(last, code="") == replace(edit, code="") and last.code.startswith(head + "\n"):
                merged[-1] = replace(last, code=f"{last.code}\n{body}")
                continue
        merged.append(edit)
    return tuple(merged)


def made_siblings(facts: Facts, culprit: Culprit) -> list[Transfer]:
    """For data that a project function made: moves of what else it gave, in a function that names the culprit."""
    if facts.sources[culprit.key].kind != "made":
        return []
    named = [binding for binding in bindings_of(facts, culprit) if binding.kind in ("unpack", "param")]
    return [
        transfer
        for transfer in facts.transfers
        if transfer.place == "accelerator"
        and transfer.birth.kind == "made"
        and transfer.birth.key != culprit.key
        and any(same_function(binding.site.level, transfer.site.level) for binding in named)
    ]


# --- beside a sibling -----------------------------------------------------------------------------------------------
def _beside_siblings(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """Next to the moves of other items of the same batch, in their style."""
    for transfer in _last_of_each(siblings):
        for binding in bindings_of(facts, culprit):
            if not same_function(binding.site.level, transfer.site.level):
                continue
            placed = _like_sibling(culprit, binding, transfer)
            if placed is not None:
                return [placed]
    for transfer in siblings:
        if not inside_module(transfer.site.level):
            node = _expression(transfer.site, transfer.site.level, culprit, "…", whole=True)
            if node is not None:
                return [_appended(transfer.site.tree, node, Move(transfer.site).trailer(), ast.unparse(node))]
    return None


def _last_of_each(siblings: Sequence[Transfer]) -> list[Transfer]:
    """The last sibling move of each function, one per place."""
    last: dict[int, Transfer] = {}
    for transfer in siblings:
        known = last.get(id(transfer.site.level.frame.node))
        if known is None or transfer.site.key >= known.site.key:
            last[id(transfer.site.level.frame.node)] = transfer
    return list(last.values())


def _like_sibling(culprit: Culprit, binding: Binding, transfer: Transfer) -> _Placed | None:
    tree, statement = transfer.site.tree, transfer.site.stmt
    name, move = binding.name, Move(transfer.site)
    trailer = move.trailer()
    if isinstance(move.guard, ast.IfExp):
        if not name.isidentifier() or not isinstance(statement, ast.Assign):
            return None
        code = f"{name} = {name}{trailer} if {tree.source(move.guard.test)} else {name}"
        return _Placed(InsertStatement(tree.path, tree.span(statement), Where.AFTER, code), f"`{name}`")
    inline = isinstance(transfer.call.func, ast.Attribute) and _is_plain_access(transfer.call.func.value)
    beside = not inline and isinstance(statement, ast.Assign) and statement.lineno >= binding.site.stmt.lineno
    if (
        not beside
        and binding.kind in ("assign", "attribute")
        and binding.value is not None
        and _is_plain_access(binding.value)
    ):
        return _appended(tree, binding.value, trailer, name)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Tuple, ast.List)):
        for element in statement.value.elts:
            if isinstance(element, ast.Name) and element.id == name:
                return _appended(tree, element, trailer, name)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not name.isidentifier():
        return None
    if statement.lineno < binding.site.stmt.lineno and statement is not binding.site.stmt:
        return None
    edit = InsertStatement(tree.path, tree.span(statement), Where.AFTER, f"{name} = {name}{trailer}")
    return _Placed(edit, f"`{name}`")


def _is_plain_access(node: ast.expr) -> bool:
    """``batch["x"]``, ``batch.x``, ``next(it)``: an expression to which a move can be appended."""
    return isinstance(node, (ast.Subscript, ast.Attribute))


def _appended(tree: SourceTree, node: ast.expr, trailer: str, name: str) -> _Placed:
    return _Placed(AppendCode(tree.path, tree.span(node), trailer), f"`{name}`")


# --- at the name that holds the item --------------------------------------------------------------------------------
def _at_names(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """Where the item gets its first name, if the device has a name there, too."""
    for binding in bindings_of(facts, culprit):
        placed = _at_name(facts, culprit, binding)
        if placed is not None:
            return [placed]
    return None


def _at_name(facts: Facts, culprit: Culprit, binding: Binding) -> _Placed | None:
    site, name = binding.site, binding.name
    tree, statement = site.tree, site.stmt
    style = _style(facts, site, culprit)
    if style is None or not name.isidentifier() or inside_module(site.level):
        return None
    trailer, guard = style
    if binding.kind == "assign" and binding.value is not None and _is_plain_access(binding.value) and guard is None:
        return _appended(tree, binding.value, trailer, name)
    code = f"{name} = {name}{trailer}"
    if guard is not None:
        code = f"if {guard}:\n    {code}"
    if binding.kind == "target" and isinstance(statement, (ast.For, ast.AsyncFor)):
        where = Where.BODY_START
    elif binding.kind == "param":
        function = site.level.frame.node
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or _dispatches(function, name):
            return None
        edit = InsertStatement(tree.path, tree.span(function), Where.BODY_START, code)
        return _Placed(edit, f"`{name}`")
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.With)):
        where = Where.BODY_START if isinstance(statement, ast.With) else Where.AFTER
    else:
        return None
    return _Placed(InsertStatement(tree.path, tree.span(statement), where, code), f"`{name}`")


def _dispatches(function: ast.AST, name: str) -> bool:
    """Whether a function asks what its argument is: then it may be anything, not only a tensor."""
    return any(_asks_about(node, name) for node in ast.walk(function))


def _asks_about(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Match):
        return ast.unparse(node.subject) == name
    if not isinstance(node, ast.Call) or not node.args:
        return False
    asks = ast.unparse(node.func).split(".")[-1] in ("isinstance", "hasattr", "is_tensor")
    return asks and ast.unparse(node.args[0]) == name


def _style(facts: Facts, site: Site, culprit: Culprit, level: Level | None = None) -> tuple[str, str | None] | None:
    """How this function moves things: the code to append, and the flag under which it does so."""
    level = level or site.level
    move = last_move(facts.moves, culprit.meetings[0].site.order)
    if move is not None and move.legacy:
        legacy = _legacy(site, level, move)
        if legacy is not None:
            return legacy
    device = device_words(facts, site, culprit, level)
    if device is None:
        return None
    return (f".to({device}, non_blocking=True)" if _overlaps(facts, site) else f".to({device})"), None


def device_words(facts: Facts, site: Site, culprit: Culprit, level: Level | None = None) -> str | None:
    """What names the device at a level: as the last move of a module says it, or the device of a module there."""
    level = level or site.level
    move = last_move(facts.moves, culprit.meetings[0].site.order)
    like = move.arguments if move is not None else None
    device = device_at(site, level, facts.preferred_device, like=like)
    if device is None:
        device = _device_of_module(culprit, site, level)
    if device is None and move is not None and move.arguments.strip("\"'").startswith("cuda"):
        device = move.arguments
    return device


def _overlaps(facts: Facts, site: Site) -> bool:
    """Whether new moves say ``non_blocking=True``: as the file's other moves of batches do, and where it has none."""
    others = [
        transfer
        for transfer in facts.transfers
        if transfer.place == "accelerator" and transfer.site.tree is site.tree and transfer.birth.kind == "batch"
    ]
    return not others or any("non_blocking" in Move(transfer.site).arguments for transfer in others)


def _legacy(site: Site, level: Level, move: Move) -> tuple[str, str | None] | None:
    call = move.site.node
    assert isinstance(call, ast.Call)
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(all_live(site, level, part) for part in parts):
        return None
    if move.guard is None:
        return move.trailer(), None
    if not all_live(site, level, move.guard.test):
        return None
    guard = move.site.tree.source(move.guard.test)
    inside = any(
        isinstance(parent, ast.If) and ast.unparse(parent.test) == ast.unparse(move.guard.test)
        for parent in site.tree.ancestors(level.stmt)
    )
    return move.trailer(), None if inside else guard


def _device_of_module(culprit: Culprit, site: Site, level: Level) -> str | None:
    """``next(model.parameters()).device``, where the model has a name and the device has none."""
    wanted = {operand.module.id for meeting in culprit.meetings for operand in meeting.accelerator if operand.module}
    assert site.memory is not None
    above = set(wanted)
    for key, record in site.memory.records():
        if record.kind == "module" and any(getattr(value, "id", None) in above for value in record.fields.values()):
            above.add(key)
    names = [name for name in module_names(site, level, above) if name != "self"]
    return f"next({names[0]}.parameters()).device" if names else device_of_a_module(site, level)


# --- containers -----------------------------------------------------------------------------------------------------
def _containers(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """A name that holds a dictionary or list of which everything must move: one comprehension."""
    for cut in range(len(culprit.item) - 1, -1, -1):
        above = replace(culprit, item=culprit.item[:cut])
        if any(transfer.birth.item[:cut] == above.item and len(transfer.birth.item) > cut for transfer in siblings):
            return None
        for binding in bindings_of(facts, above):
            code = _comprehension(facts, culprit, binding, siblings)
            if code is not None:
                where = Where.BODY_START if binding.kind == "target" else Where.AFTER
                tree, anchor = binding.site.tree, binding.site.stmt
                beside = [t for t in siblings if same_function(t.site.level, binding.site.level)]
                if beside and isinstance(beside[-1].site.stmt, ast.Assign):
                    where, anchor = Where.AFTER, beside[-1].site.stmt
                return [_Placed(InsertStatement(tree.path, tree.span(anchor), where, code), f"`{binding.name}`")]
    return None


def _comprehension(facts: Facts, culprit: Culprit, binding: Binding, siblings: Sequence[Transfer]) -> str | None:
    site, name = binding.site, binding.name
    loop = isinstance(site.stmt, (ast.For, ast.AsyncFor))
    if binding.kind not in ("target", "unpack", "assign") or (binding.kind == "target") is not loop:
        return None
    beside = [transfer for transfer in siblings if same_function(transfer.site.level, site.level)]
    style = (Move(beside[-1].site).trailer(), None) if beside else _style(facts, site, culprit)
    value = held_value(facts, binding)
    if style is None or style[1] is not None or value is None or not name.isidentifier():
        return None
    memory = site.memory
    assert memory is not None
    if isinstance(value, TupleValue):
        held: list[Value] = list(value.items)
        shape = "tuple"
    elif isinstance(value, Ref) and memory.record(value).kind in ("dict", "list"):
        record = memory.record(value)
        held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
        shape = record.kind
    elif isinstance(value, Yields):
        held, shape = [value.element], "list"
    elif isinstance(value, Tensor) and value.loose and _star(culprit, name):
        held, shape = [], "dict" if _star(culprit, name) == 2 else "list"
    else:
        return None
    if shape == "list" and held and all(_tensors_of_dict(memory, item) for item in held):
        item = name[:-1] if name.endswith("s") and len(name) > 2 else "item"
        return f"{name} = [{{k: v{style[0]} for k, v in {item}.items()}} for {item} in {name}]"
    if not all(isinstance(item, Tensor) and item.sure for item in held):
        return None
    if shape == "dict":
        return f"{name} = {{k: v{style[0]} for k, v in {name}.items()}}"
    item = name[:-1] if name.endswith("s") and len(name) > 2 else "item"
    return f"{name} = [{item}{style[0]} for {item} in {name}]"


def _tensors_of_dict(memory: State, value: Value) -> bool:
    """Whether a value is a dictionary of nothing but tensors."""
    if not isinstance(value, Ref) or memory.record(value).kind != "dict":
        return False
    record = memory.record(value)
    held = [*record.fields.values(), *([record.rest] if record.rest is not None else [])]
    return bool(held) and all(isinstance(item, Tensor) and item.sure for item in held)


def held_value(facts: Facts, binding: Binding) -> Value | None:
    """What the name holds: found in the bindings' own memory once it is bound, else in a later one."""
    for later in facts.bindings:
        if later.site.order > binding.site.order and same_function(later.site.level, binding.site.level):
            value = value_of(later.site, later.site.level, ast.Name(binding.name, ast.Load()))
            if value is not None:
                return value
    for meeting in facts.meetings:
        for level in meeting.site.levels:
            if same_function(level, binding.site.level):
                value = value_of(meeting.site, level, ast.Name(binding.name, ast.Load()))
                if value is not None:
                    return value
    return None


def _star(culprit: Culprit, name: str) -> int | None:
    """1 where some call takes ``*name``, 2 where it takes ``**name``."""
    for meeting in culprit.meetings:
        for level in meeting.site.levels:
            for node in ast.walk(level.stmt):
                if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name) and node.value.id == name:
                    return 1
                if isinstance(node, ast.keyword) and node.arg is None and ast.unparse(node.value) == name:
                    return 2
    return None


# --- by the program's own helper ------------------------------------------------------------------------------------
def _by_helper(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """``batch = to_device(batch, device)``, as another loop of the program does it."""
    for transfer in reversed(facts.transfers):
        if transfer.place != "accelerator" or transfer.birth.key == culprit.key:
            continue
        for level in transfer.site.levels:
            name = _helper_target(level.stmt)
            if name is None:
                continue
            direct = level is transfer.site.level
            for cut in range(len(culprit.item) if not direct else 0, -1, -1):
                if direct and transfer.birth.item not in ((), ("*",)):
                    continue  # only moves of a whole batch are copied from another loop
                for binding in bindings_of(facts, replace(culprit, item=culprit.item[:cut])):
                    placed = _same_call(binding, level, name)
                    if placed is not None:
                        return [placed]
    return None


def _helper_target(stmt: ast.stmt) -> str | None:
    """``x`` of a statement ``x = helper(x, …)``."""
    if not (isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name)):
        return None
    name, value = stmt.targets[0].id, stmt.value
    if isinstance(value, (ast.DictComp, ast.ListComp)) and len(value.generators) == 1:
        return name if names_in(value.generators[0].iter) == {name} else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, (ast.Name, ast.Attribute)):
        return None
    if isinstance(value.func, ast.Attribute) and ast.unparse(value.func.value) == name:
        return name
    return name if any(isinstance(argument, ast.Name) and argument.id == name for argument in value.args) else None


def _same_call(binding: Binding, level: Level, name: str) -> _Placed | None:
    site, stmt = binding.site, level.stmt
    if binding.name != name or not isinstance(stmt, ast.Assign) or inside_module(site.level):
        return None
    bound = {
        inner.id
        for node in ast.walk(stmt.value)
        if isinstance(node, ast.comprehension)
        for inner in ast.walk(node.target)
        if isinstance(inner, ast.Name)
    }
    if not all(other in visible(site, site.level) for other in names_in(stmt.value) - bound - {name}):
        return None
    loop = binding.kind == "target" and isinstance(site.stmt, (ast.For, ast.AsyncFor))
    if not loop and not isinstance(site.stmt, ast.Assign):
        return None
    where = Where.BODY_START if loop else Where.AFTER
    edit = InsertStatement(site.tree.path, site.tree.span(site.stmt), where, level.tree.source(stmt))
    return _Placed(edit, f"`{name}`")


# --- where it is used -----------------------------------------------------------------------------------------------
def _at_uses(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer]) -> list[_Placed] | None:
    """Appended to the item in each operation that needs it on the device."""
    placed: dict[tuple[object, ...], _Placed] = {}
    for meeting, text in zip(culprit.meetings, culprit.texts, strict=False):
        for level in meeting.site.levels:
            if inside_module(level):
                break
            node = _expression(meeting.site, level, culprit, text)
            trailer = _trailer_at(facts, culprit, siblings, meeting.site, level) if node is not None else None
            if node is not None and trailer is not None:
                span = level.tree.span(node)
                placed[(level.tree.path, span)] = _appended(level.tree, node, trailer, ast.unparse(node))
                break
        else:
            return None
        if not placed:
            return None
    return list(placed.values())


def _trailer_at(facts: Facts, culprit: Culprit, siblings: Sequence[Transfer], site: Site, level: Level) -> str | None:
    beside = [transfer for transfer in siblings if same_function(transfer.site.level, level)]
    if beside:
        return Move(beside[-1].site).trailer()
    style = _style(facts, site, culprit, level)
    return style[0] if style is not None and style[1] is None else None


def _expression(site: Site, level: Level, culprit: Culprit, text: str, whole: bool = False) -> ast.expr | None:
    """The expression in a level's statement (or, innermost, in the operation) that is the item."""
    innermost = level is site.levels[-1]
    roots: list[ast.AST] = [site.node] if innermost and not whole else headers(level.stmt)
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load):
                value = value_of(site, level, node)
                for option in options(value) if value is not None else ():
                    if isinstance(option, Tensor) and [b.item for b in option.births if b.key == culprit.key] == [
                        culprit.item
                    ]:
                        return node
    return find_expression(site.node, text) if innermost and text != "…" else None
