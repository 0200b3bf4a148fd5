"""What a call that hard-codes its device should say, and how it comes to say it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import CPU, Pointer
from devfix.analysis.scenarios import device_words, literal
from devfix.analysis.scopes import visible
from devfix.fixes.devices.conflicting_devices import Contradiction
from devfix.fixes.insertion_point import all_live, headers
from devfix.fixes.move_style import move_of
from devfix.fixes.value_scope import device_for_tensor
from devfix.model import AddKeyword, AppendCode, Edit, ReplaceExpression, ReplaceStatement
from devfix.models.tensor_methods import RANDOM_FACTORIES
from devfix.syntax.tree import SourceTree

__all__ = ["edits_for", "placed_again"]


def edits_for(observations: Observations, one: Contradiction) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Titles and edits, best first."""
    words = _words(observations, one)
    declared = _told_at_construction(observations, one)
    if declared is not None:
        yield declared
    guarded = _under_its_flag(one)
    if guarded is not None and (words is None or words.startswith("next(")):
        yield "move it under the same condition", (guarded,)
    elif words is not None:
        edits = tuple(_with_device(one.point.tree, one.call, words))
        if edits:
            yield f"use `{words}`", edits


def placed_again(observations: Observations, one: Contradiction) -> Edit | None:
    """A move of the operand where it meets the others: what it is elsewhere stays on the CPU."""
    mismatch = one.mismatch
    if mismatch is None or one.device != CPU:
        return None
    point = mismatch.point
    words = device_for_tensor(observations, point, point.call_frame, mismatch.partners)
    for operand in mismatch.cpu:
        for node in ast.walk(point.node):
            if words and isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and ast.unparse(node) == operand.text:
                return AppendCode(point.tree.path, point.tree.span(node), f".to({words})")
    return None


def _words(observations: Observations, one: Contradiction) -> str | None:
    return device_for_tensor(observations, one.point, one.point.call_frame, one.partners, fits=one.fits)


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


def _told_at_construction(observations: Observations, one: Contradiction) -> tuple[str, tuple[Edit, ...]] | None:
    """Where a default of the function, or of the class, is what contradicts, or what its caller says."""
    words = device_words(one.call)
    if isinstance(words, ast.Name):
        name, found = words.id, _callers(one.point, one.other)
    elif isinstance(words, ast.Attribute) and isinstance(words.value, ast.Name):
        name, found = words.attr, _makers(one, words.value.id)
    else:
        return None
    if found is None:
        return None
    call_frame, there, call, function = found
    argument = _literal_argument(function, name, call)
    given = any(keyword.arg in (name, None) for keyword in call.keywords)
    if argument is None and (given or not _by_default(function, name, len(call.args))):
        return None
    device = device_for_tensor(observations, one.point, call_frame, fits=lambda text: one.fits(text, there))
    if device is None or (argument is not None and one.parked):
        return None
    if argument is not None:
        edit = ReplaceExpression(call_frame.tree.path, call_frame.tree.span(argument), device)
        return f"give it `{device}`", (edit,)
    return f"say `{name}={device}`", (AddKeyword(call_frame.tree.path, call_frame.tree.span(call), name, device),)


Found = tuple[CallFrame, CallFrame, ast.Call, ast.arguments]


def _callers(point: ProgramPoint, other: ProgramPoint) -> Found | None:
    """The call of the function in which a moment is."""
    if len(point.call_stack) < 2 or len(other.call_stack) != len(point.call_stack):
        return None
    function = point.call_frame.activation.node
    call = _call_in(point.call_stack[-2], getattr(function, "name", ""))
    if call is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    return point.call_stack[-2], other.call_stack[-2], call, function.args


def _makers(one: Contradiction, owner: str) -> Found | None:
    """The construction of the object whose attribute names the device."""
    sides = []
    for point in (one.point, one.other):
        value = visible(point, point.call_frame).get(owner)
        if not isinstance(value, Pointer) or point.state is None:
            return None
        obj = point.state.heap_object(value)
        if obj.allocated_at is None or obj.cls is None or not isinstance(obj.allocated_at.node, ast.Call):
            return None
        sides.append((obj.allocated_at, obj.cls))
    (allocated_at, cls), (there, _) = sides
    start = next((s for s in cls.node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    call = allocated_at.node
    assert isinstance(call, ast.Call)
    return (allocated_at.call_frame, there.call_frame, call, start.args) if start is not None else None


def _call_in(call_frame: CallFrame, name: str) -> ast.Call | None:
    calls = [
        node
        for root in headers(call_frame.stmt)
        for node in ast.walk(root)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    ]
    return calls[0] if len(calls) == 1 else None


def _literal_argument(arguments: ast.arguments, name: str, call: ast.Call) -> ast.expr | None:
    """The literal device that a call gives to a parameter: ``graph.to("cpu")``, of a class with its own ``to``."""
    plain = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in plain and not any(isinstance(argument, ast.Starred) for argument in call.args):
        given |= dict(zip(plain[plain[0] == "self" :], call.args, strict=False))
    return given[name] if name in given and literal(given[name]) is not None else None


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
    statement, tree = one.point.stmt, one.point.tree
    if move is None or move.guard is None or not all_live(one.point, one.point.call_frame, move.guard.test):
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
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    return ast.unparse(value.func.value) == ast.unparse(target)
