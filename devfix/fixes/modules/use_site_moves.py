"""Tensors of attributes brought to the device where they are made, or where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ACCELERATOR, Ref, Tensor, TupleValue, Yields, options
from devfix.analysis.observations import Stored
from devfix.analysis.scopes import device_expressions, value_of, visible
from devfix.fixes.device_expression import bound_before, device_for
from devfix.fixes.insertion_point import inside_module, read_expression
from devfix.fixes.modules.attribute_writes import Attribute, Use, methods_of
from devfix.model import AddKeyword, AppendCode, Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.inplace_writes import written_in
from devfix.syntax.tree import SourceTree

__all__ = ["made_on_device", "moved_at_use", "read_through"]

# Factories that give the same numbers everywhere; random ones keep the numbers that the CPU draws.
# https://docs.pytorch.org/docs/stable/torch.html#creation-ops
_DETERMINISTIC = frozenset(
    "zeros ones full empty arange linspace logspace eye tensor as_tensor tril_indices triu_indices range "
    "hann_window hamming_window".split()
)


#: Uses in other files, of values that were computed from the attribute, that an edit may touch.
MOST_FAR = 1


# --- where it is made -------------------------------------------------------------------------------------------------
def made_on_device(facts: Facts, attributes: list[Attribute]) -> list[Edit]:
    """Each tensor made on the device that its object knows; nothing where some object knows none."""
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        found = list(_made(facts, attribute))
        if not found:
            return []
        edits.update(dict.fromkeys(found))
    return list(edits)


def _made(facts: Facts, attribute: Attribute) -> Iterator[Edit]:
    """Where the object's own methods make it, else where the attribute is given it."""
    keys = {birth.key for use in attribute.uses for birth in use.births if birth.kind == "made"}
    sites = [facts.sources[key].site for key in sorted(keys)]
    functions = {stored.site.level.frame.node for stored in attribute.stored}
    if attribute.cls is not None:
        functions |= {method for _, _, method in methods_of(attribute.cls)}
    if sites and all(site.level.frame.node in functions for site in sites):
        devices = [_own_device(facts, site) or _device_before(attribute, site) for site in sites]
        if None not in devices:
            yield from (_created(site, device) for site, device in zip(sites, devices, strict=True) if device)
        return
    for stored in attribute.stored:
        device = _own_device(facts, stored.site)
        if device is not None and stored.value is not None and _is_one_tensor(stored):
            tree = stored.site.tree
            yield AppendCode(tree.path, tree.span(stored.value), f".to({device})")


def _is_one_tensor(stored: Stored) -> bool:
    """Whether what an attribute is given is a tensor: nothing that holds several, or may, as a checkpoint does."""
    several = (Ref, TupleValue, Yields)
    held = options(stored.held)
    if any(isinstance(option, several) or (isinstance(option, Tensor) and option.loose) for option in held):
        return False
    return not isinstance(stored.value, (ast.Tuple, ast.List))


def _device_before(attribute: Attribute, site: Site) -> str | None:
    """``self.state.device`` where the attribute held a tensor on the accelerator until it is made anew."""
    if not any(stored.site.level.frame.node is site.level.frame.node for stored in attribute.stored):
        return None
    try:
        value = value_of(site, site.level, ast.parse(attribute.shown, mode="eval").body)
    except SyntaxError:
        return None
    there = value is not None and any(isinstance(o, Tensor) and o.place == ACCELERATOR for o in options(value))
    return f"{attribute.shown}.device" if there else None


def _own_device(facts: Facts, site: Site) -> str | None:
    """A device that the function (or the script) itself has, or that its object has."""
    level = site.level
    assert site.memory is not None
    local = site.memory.names(level.frame.env)
    named = [
        text
        for text in device_expressions(site, level, facts.preferred_device)
        if text.split(".")[0] in local and bound_before(level, text.split(".")[0])
    ]
    if named:
        return named[0]
    if not inside_module(level) or getattr(level.frame.node, "name", "") in ("__init__", ""):
        return None
    found = device_for(facts, site, level)
    foreign = found is not None and found.split(".")[0].split("(")[0] not in {*local, "next"}
    return (_parameters_device(site, level) or found) if foreign or found is None else found


def _parameters_device(site: Site, level: Level) -> str | None:
    """The device of the module's own weights, wherever they are when the method runs, if it has some by then."""
    own = visible(site, level).get("self")
    if not isinstance(own, Ref) or site.memory is None or site.memory.record(own).kind != "module":
        return None
    return "next(self.parameters()).device" if _has_weights(site.memory, own, set()) else None


def _has_weights(memory: State, ref: Ref, seen: set[int]) -> bool:
    record = memory.record(ref)
    if ref.id in seen or record.kind != "module":
        return False
    seen.add(ref.id)
    if record.weights and record.cls is None:
        return True
    parts = [option for value in record.fields.values() for option in options(value) if isinstance(option, Ref)]
    return any(_has_weights(memory, part, seen) for part in parts)


def _created(site: Site, device: str) -> Edit:
    tree, call = site.tree, site.node
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func).split(".")[-1]
    if name in _DETERMINISTIC and not any(keyword.arg in ("device", None) for keyword in call.keywords):
        return AddKeyword(tree.path, tree.span(call), "device", device)
    return AppendCode(tree.path, tree.span(call), f".to({device})")


# --- where it is used -------------------------------------------------------------------------------------------------
def moved_at_use(facts: Facts, attributes: list[Attribute]) -> list[Edit]:
    """``self.table.to(x.device)`` in each operation that needs it there; nothing where one has no such place."""
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        far = 0
        for use in attribute.uses:
            edit = _at(facts, attribute, use)
            if edit is None:
                return []
            if edit not in edits and not _mentions(attribute, use):
                far += 1
            edits[edit] = None
        if far > MOST_FAR:
            return []  # what was computed from it has gone too far: nobody would look for the reason there
    return list(edits)


def _mentions(attribute: Attribute, use: Use) -> bool:
    """Whether the operation stands in the file, or reads the name, of the attribute."""
    site = use.meeting.site
    return site.tree.path == attribute.site.tree.path or attribute.name in ast.unparse(site.stmt)


def _at(facts: Facts, attribute: Attribute, use: Use) -> Edit | None:
    site = use.meeting.site
    tree = site.tree
    partners = use.meeting.partners
    written = written_in(tree, site.stmt, attribute.name)
    if written is not None:
        device, target = _device_at(facts, site, partners), _whole_tensor(site, written)
        if device is None or target is None or any(birth.kind == "parameter" for birth in use.births):
            return None
        code = f"{tree.source(target)} = {tree.source(target)}.to({device})"
        return InsertStatement(tree.path, tree.span(site.stmt), Where.BEFORE, code)
    node = _read(attribute, use, [site.node])
    if node is None:
        earlier = _bound_by(attribute, use)
        if earlier is not None and (edit := _where_bound(facts, use, earlier, partners)) is not None:
            return edit
        node = read_expression(site.node, use.operand.text)
    device = _device_at(facts, site, partners)
    if node is None or device is None or node not in tree.parents or not _is_tensor(site, node):
        return None
    return AppendCode(tree.path, tree.span(node), f".to({device})")


def _whole_tensor(site: Site, written: ast.expr) -> ast.expr | None:
    """``self.counts`` of ``self.counts[label]``, ``self.all["a"]`` of a dictionary: the tensor, none of its parts."""
    found = [written]
    while isinstance(found[-1], ast.Subscript):
        found.append(found[-1].value)
    for node in reversed(found):
        value = value_of(site, site.level, node)
        if value is not None and all(isinstance(option, Tensor) and not option.loose for option in options(value)):
            return node
    return None


def _is_tensor(site: Site, node: ast.expr) -> bool:
    """Whether an expression can be moved as it is: no tuple, list or dictionary of tensors."""
    value = value_of(site, site.level, node)
    return value is None or not any(isinstance(option, (Ref, TupleValue, Yields)) for option in options(value))


def _device_at(facts: Facts, site: Site, partners: list[str]) -> str | None:
    """The device that the function uses, else that of the very value that the tensor meets here."""
    found = device_for(facts, site, site.level, partners)
    if found is not None and _is_there(site, found.removesuffix(".device")):
        named = (name for text in partners for name in _names(text))
        return next((f"{name}.device" for name in named if _is_there(site, name)), found)
    return found


def _names(text: str) -> list[str]:
    """The names that an expression reads, from left to right."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError:
        return []
    found = [node for node in nodes if isinstance(node, ast.Name)]
    return [node.id for node in sorted(found, key=lambda node: node.col_offset)]


def _is_there(site: Site, text: str) -> bool:
    """Whether a plain name is a tensor on the accelerator."""
    value = value_of(site, site.level, ast.Name(text, ast.Load())) if text.isidentifier() else None
    return value is not None and all(isinstance(o, Tensor) and o.place == ACCELERATOR for o in options(value))


def _read(attribute: Attribute, use: Use, roots: list[ast.AST]) -> ast.expr | None:
    """The expression that reads the attribute; with its subscript, unless an index decides where the table must be."""
    site = use.meeting.site
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, ast.Attribute) and node.attr == attribute.name and isinstance(node.ctx, ast.Load):
                owner = value_of(site, site.level, node.value)
                held = {ref for stored in attribute.stored for ref in stored.owners}
                if owner is not None and held and not held & {o for o in options(owner) if isinstance(o, Ref)}:
                    continue
                return _with_subscripts(site.tree, node) if use.meeting.consumer != "index" else node
    return None


def _with_subscripts(tree: SourceTree, node: ast.expr) -> ast.expr:
    while True:
        parent = tree.parents.get(node)
        if not isinstance(parent, ast.Subscript) or parent.value is not node or not isinstance(parent.ctx, ast.Load):
            return node
        node = parent


def _bound_by(attribute: Attribute, use: Use) -> ast.Assign | None:
    """The one statement of the same function that gives the operand's name a value read from the attribute."""
    function, name = use.meeting.site.level.frame.node, use.operand.text
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
    if len(found) != 1 or _read(attribute, use, [found[0].value]) is None:
        return None
    return found[0]


def _where_bound(facts: Facts, use: Use, stmt: ast.Assign, partners: list[str]) -> Edit | None:
    site = use.meeting.site
    there = Level(site.level.frame, stmt)
    device = _device_at(facts, site, partners)
    if device is None or site.tree.function(stmt) is not site.tree.function(site.node):
        return None
    root = device.split(".")[0].split("(")[0]
    if not bound_before(there, root) and root not in ("self", "next"):
        return None
    return AppendCode(site.tree.path, site.tree.span(stmt.value), f".to({device})")


# --- aliases ----------------------------------------------------------------------------------------------------------
def read_through(attributes: list[Attribute]) -> list[Edit]:
    """``self.pe`` itself where its alias was read: a move makes a new buffer, and the alias keeps the old one.

    https://github.com/pytorch/pytorch/issues/29807
    """
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        value = attribute.stored[0].value
        if len(attribute.stored) != 1 or value is None:
            return []
        for use in attribute.uses:
            node = _read(attribute, use, [use.meeting.site.node])
            while isinstance(node, ast.Subscript):
                node = node.value
            if node is None or ast.unparse(value).split(".")[0] != ast.unparse(node).split(".")[0]:
                return []
            tree = use.meeting.site.tree
            edits[ReplaceExpression(tree.path, tree.span(node), ast.unparse(value))] = None
    return list(edits)
