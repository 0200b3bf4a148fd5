"""Tensor attributes created on the device, or moved where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import module_at
from devfix.analysis.domain.values import ACCELERATOR, IterableOf, Pointer, Tensor, TupleValue, alternatives
from devfix.analysis.observations import AttributeStore
from devfix.analysis.scopes import value_of, visible
from devfix.fixes.insertion_point import inside_module, read_expression
from devfix.fixes.live_devices import live_devices
from devfix.fixes.module_weights import has_parameters
from devfix.fixes.modules.attribute_writes import Attribute, Use, methods_of
from devfix.fixes.replicas import has_replicas
from devfix.fixes.value_scope import bound_at, device_for_tensor
from devfix.model import AddKeyword, AppendCode, Edit, InsertStatement, ReplaceExpression, Where
from devfix.syntax.inplace_writes import find_write
from devfix.syntax.tree import SourceTree

__all__ = ["create_on_device", "move_at_use", "replace_aliases"]

# Factories whose values do not depend on the device; random factories keep the CPU's random numbers.
# https://docs.pytorch.org/docs/stable/torch.html#creation-ops
_DETERMINISTIC = frozenset(
    "zeros ones full empty arange linspace logspace eye tensor as_tensor tril_indices triu_indices range hann_window "
    "hamming_window".split()
)


#: The maximum number of edited uses, in other files, of values computed from the attribute.
MAX_DISTANT_USES = 1


# --- at the creation ------------------------------------------------------------------------------------------------
def create_on_device(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """Return edits that create each tensor on its object's device; empty if an object has no device."""
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        found = list(_creation_edits(observations, attribute))
        if not found:
            return []
        edits.update(dict.fromkeys(found))
    return list(edits)


def _creation_edits(observations: Observations, attribute: Attribute) -> Iterator[Edit]:
    """Yield edits at the creations in the object's own methods, else at the assignments of the attribute."""
    keys = {origin.site_id for use in attribute.uses for origin in use.origins if origin.kind == "made"}
    points = [observations.sources[key].point for key in sorted(keys)]
    functions = {stored.point.call_frame.activation.node for stored in attribute.stored}
    if attribute.cls is not None:
        functions |= {method for _, _, method in methods_of(attribute.cls)}
    if points and all(point.call_frame.activation.node in functions for point in points):
        devices = [_own_device(observations, point) or _device_before(attribute, point) for point in points]
        if None not in devices:
            yield from (_create_on(point, device) for point, device in zip(points, devices, strict=True) if device)
        return
    for stored in attribute.stored:
        device = _own_device(observations, stored.point)
        if device is not None and stored.value is not None and _is_one_tensor(stored):
            tree = stored.point.tree
            yield AppendCode(tree.path, tree.span(stored.value), f".to({device})")


def _is_one_tensor(stored: AttributeStore) -> bool:
    """Whether an attribute is assigned a single tensor, not a container and not a checkpoint entry that may be one."""
    several = (Pointer, TupleValue, IterableOf)
    values = alternatives(stored.stored_value)
    if any(isinstance(option, several) or (isinstance(option, Tensor) and option.maybe_container) for option in values):
        return False
    return not isinstance(stored.value, (ast.Tuple, ast.List))


def _device_before(attribute: Attribute, point: ProgramPoint) -> str | None:
    """Return ``self.state.device`` if the attribute held an accelerator tensor before it is created anew."""
    if not any(
        stored.point.call_frame.activation.node is point.call_frame.activation.node for stored in attribute.stored
    ):
        return None
    try:
        value = value_of(point, point.call_frame, ast.parse(attribute.text, mode="eval").body)
    except SyntaxError:
        return None
    is_on_accelerator = value is not None and any(
        isinstance(o, Tensor) and o.device == ACCELERATOR for o in alternatives(value)
    )
    return f"{attribute.text}.device" if is_on_accelerator else None


def _own_device(observations: Observations, point: ProgramPoint) -> str | None:
    """Return a device expression of the function, the script or its object; ``None`` if there is none."""
    call_frame = point.call_frame
    assert point.state is not None
    local = point.state.names(call_frame.activation.env)
    named = [
        text
        for text in live_devices(point, call_frame, observations.preferred_device)
        if text.split(".")[0] in local and bound_at(call_frame, text.split(".")[0])
    ]
    if named:
        return named[0]
    if not inside_module(call_frame) or getattr(call_frame.activation.node, "name", "") in ("__init__", ""):
        return None
    found = device_for_tensor(observations, point, call_frame)
    is_global = found is not None and found.split(".")[0].split("(")[0] not in {*local, "next"}
    of_weights = None if has_replicas(observations) else _parameters_device(point, call_frame)
    return (of_weights or found) if is_global or found is None else found


def _parameters_device(point: ProgramPoint, call_frame: CallFrame) -> str | None:
    """Return the device expression of the module's own weights, if it has any when the method runs."""
    own = visible(point, call_frame).get("self")
    if not isinstance(own, Pointer) or point.state is None or module_at(point.state, own) is None:
        return None
    return "next(self.parameters()).device" if has_parameters(point.state, own) else None


def _create_on(point: ProgramPoint, device: str) -> Edit:
    tree, call = point.tree, point.node
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func).split(".")[-1]
    if name in _DETERMINISTIC and not any(keyword.arg in ("device", None) for keyword in call.keywords):
        return AddKeyword(tree.path, tree.span(call), "device", device)
    return AppendCode(tree.path, tree.span(call), f".to({device})")


# --- at the use -----------------------------------------------------------------------------------------------------
def move_at_use(observations: Observations, attributes: list[Attribute]) -> list[Edit]:
    """Return ``self.table.to(x.device)`` for each failing operation; empty if one cannot be edited."""
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        if _may_be_number(attribute):
            return []
        distant = 0
        for use in attribute.uses:
            edit = _move_at_operation(observations, attribute, use)
            if edit is None:
                return []
            if edit not in edits and not _is_near(attribute, use):
                distant += 1
            edits[edit] = None
        if distant > MAX_DISTANT_USES:
            return []  # the computed values are used too far from the attribute for readable fixes
    return list(edits)


def _may_be_number(attribute: Attribute) -> bool:
    """Whether the class also assigns the attribute a value that is not known to be a tensor: a number, an option."""
    if attribute.cls is None:
        return False
    known = {stored.value for stored in attribute.stored}
    return any(
        isinstance(stmt, ast.Assign)
        and stmt.value not in known
        and any(ast.unparse(target) == f"self.{attribute.name}" for target in stmt.targets)
        and _is_plain(stmt.value)
        for _, _, method in methods_of(attribute.cls)
        for stmt in ast.walk(method)
    )


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression calls nothing and is not ``None``: a literal, a name, an entry of the settings."""
    if isinstance(node, ast.Constant):
        return node.value is not None
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))


def _is_near(attribute: Attribute, use: Use) -> bool:
    """Whether the operation is in the attribute's file or names the attribute."""
    point = use.mismatch.point
    return point.tree.path == attribute.point.tree.path or attribute.name in ast.unparse(point.stmt)


def _move_at_operation(observations: Observations, attribute: Attribute, use: Use) -> Edit | None:
    point = use.mismatch.point
    tree = point.tree
    partners = use.mismatch.partners
    written = find_write(tree, point.stmt, attribute.name)
    if written is not None:
        device, target = _device_at(observations, point, partners), _whole_tensor(point, written)
        if device is None or target is None or any(origin.kind == "parameter" for origin in use.origins):
            return None
        code = f"{tree.source(target)} = {tree.source(target)}.to({device})"
        return InsertStatement(tree.path, tree.span(point.stmt), Where.BEFORE, code)
    node = _attribute_expression(attribute, use, [point.node])
    if node is None:
        earlier = _binding_statement(attribute, use)
        if earlier is not None and (edit := _move_at_binding(observations, use, earlier, partners)) is not None:
            return edit
        node = read_expression(point.node, use.operand.text)
    device = _device_at(observations, point, partners)
    if node is None or device is None or node not in tree.parents or not _is_tensor(point, node):
        return None
    return AppendCode(tree.path, tree.span(node), f".to({device})")


def _whole_tensor(point: ProgramPoint, written: ast.expr) -> ast.expr | None:
    """Return the tensor that is written to: ``self.counts`` of ``self.counts[label]``."""
    found = [written]
    while isinstance(found[-1], ast.Subscript):
        found.append(found[-1].value)
    for node in reversed(found):
        value = value_of(point, point.call_frame, node)
        if value is not None and all(
            isinstance(option, Tensor) and not option.maybe_container for option in alternatives(value)
        ):
            return node
    return None


def _is_tensor(point: ProgramPoint, node: ast.expr) -> bool:
    """Whether an expression can be moved with ``.to()``: not a tuple, list or dictionary of tensors."""
    if isinstance(node, _DISPLAYS):
        return False
    value = value_of(point, point.call_frame, node)
    return value is None or not any(
        isinstance(option, (Pointer, TupleValue, IterableOf)) for option in alternatives(value)
    )


_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _device_at(observations: Observations, point: ProgramPoint, partners: list[str]) -> str | None:
    """Return the device expression of the function, else that of the other operand."""
    found = device_for_tensor(observations, point, point.call_frame, partners)
    if found is not None and _is_on_accelerator(point, found.removesuffix(".device")):
        named = (name for text in partners for name in _names(text))
        return next((f"{name}.device" for name in named if _is_on_accelerator(point, name)), found)
    return found


def _names(text: str) -> list[str]:
    """Return the names in an expression, from left to right."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError:
        return []
    found = [node for node in nodes if isinstance(node, ast.Name)]
    return [node.id for node in sorted(found, key=lambda node: node.col_offset)]


def _is_on_accelerator(point: ProgramPoint, text: str) -> bool:
    """Whether a plain name is a tensor on the accelerator."""
    value = value_of(point, point.call_frame, ast.Name(text, ast.Load())) if text.isidentifier() else None
    return value is not None and all(isinstance(o, Tensor) and o.device == ACCELERATOR for o in alternatives(value))


def _attribute_expression(attribute: Attribute, use: Use, roots: list[ast.AST]) -> ast.expr | None:
    """Return the expression that reads the attribute, with its subscripts unless the operation is an index."""
    point = use.mismatch.point
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, ast.Attribute) and node.attr == attribute.name and isinstance(node.ctx, ast.Load):
                owner = value_of(point, point.call_frame, node.value)
                owners = {ref for stored in attribute.stored for ref in stored.owners}
                if (
                    owner is not None
                    and owners
                    and not owners & {o for o in alternatives(owner) if isinstance(o, Pointer)}
                ):
                    continue
                return _with_subscripts(point.tree, node) if use.mismatch.operation != "index" else node
    return None


def _with_subscripts(tree: SourceTree, node: ast.expr) -> ast.expr:
    while True:
        parent = tree.parents.get(node)
        if not isinstance(parent, ast.Subscript) or parent.value is not node or not isinstance(parent.ctx, ast.Load):
            return node
        node = parent


def _binding_statement(attribute: Attribute, use: Use) -> ast.Assign | None:
    """Return the only statement of the function that binds the operand's name to a value read from the attribute."""
    function, name = use.mismatch.point.call_frame.activation.node, use.operand.text
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
    if len(found) != 1 or _attribute_expression(attribute, use, [found[0].value]) is None:
        return None
    return found[0]


def _move_at_binding(observations: Observations, use: Use, stmt: ast.Assign, partners: list[str]) -> Edit | None:
    point = use.mismatch.point
    binding_frame = CallFrame(point.call_frame.activation, stmt)
    device = _device_at(observations, point, partners)
    if device is None or point.tree.function(stmt) is not point.tree.function(point.node):
        return None
    root = device.split(".")[0].split("(")[0]
    if not bound_at(binding_frame, root) and root not in ("self", "next"):
        return None
    return AppendCode(point.tree.path, point.tree.span(stmt.value), f".to({device})")


# --- aliases --------------------------------------------------------------------------------------------------------
def replace_aliases(attributes: list[Attribute]) -> list[Edit]:
    """Return edits that replace an alias of a buffer by the buffer: ``self.pe``.

    ``.to()`` creates a new buffer, and the alias keeps the old one: https://github.com/pytorch/pytorch/issues/29807
    """
    edits: dict[Edit, None] = {}
    for attribute in attributes:
        value = attribute.stored[0].value
        if len(attribute.stored) != 1 or value is None:
            return []
        for use in attribute.uses:
            node = _attribute_expression(attribute, use, [use.mismatch.point.node])
            while isinstance(node, ast.Subscript):
                node = node.value
            if node is None or ast.unparse(value).split(".")[0] != ast.unparse(node).split(".")[0]:
                return []
            tree = use.mismatch.point.tree
            edits[ReplaceExpression(tree.path, tree.span(node), ast.unparse(value))] = None
    return list(edits)
