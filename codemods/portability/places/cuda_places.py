"""The places of a file that require CUDA: where it puts values, and where it names the device for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from codemods.portability._guards import asks_for_cuda
from codemods.portability._torch_names import named, own_names, stands_alone
from codemods.portability.places.cuda_place import CudaPlace, Kind, Piece
from codemods.portability.places.indices import is_index_of_move, is_integer, tensor_of_index
from codemods.portability.places.receivers import Receivers
from codemods.portability.places.settings_reads import is_answered, reads_cuda_setting
from devfix.analysis import Observations
from devfix.syntax.device_literals import is_cuda_literal
from devfix.syntax.tree import SourceTree, walk

__all__ = [
    "OWN_CUDA",
    "holds_sizes",
    "is_computed_cuda",
    "is_filled",
    "move_piece",
    "named_places",
    "typed_constructor",
]

_DEVICE = re.compile(r"(?:.*_)?(?:device|dev)", re.IGNORECASE)
_DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
}
_TYPED = re.compile(rf"torch\.cuda\.({'|'.join(_DTYPES)})Tensor")
_MOVES = ("to", "cuda")
_LITERAL_SIZES = (ast.Constant, ast.List, ast.Tuple, ast.Starred)
_FILLS = ("fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_")
_SHORT = 48  # characters
_SIZES = ("size", "len", "numel", "int")

_OVERRIDDEN = "the class overrides how it is moved"
OWN_CUDA = "`cuda` may be a method of a class of the program"
_INDEX = "the accelerator is chosen by an expression"
_UNKNOWN_CONTENT = "its argument may be a size or the content"
_LONG = "what is pinned is a long expression"
_PARAMETER = "the default of a parameter: a query there would run when the module is imported"
_FLAG = "a flag is passed as the device"
_PARALLEL = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel")
_INDEX_KEYWORDS = ("device_ids", "output_device")
_SYNCHRONIZED = "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
_STORAGE = "a storage is moved"


def named_places(observations: Observations) -> Iterator[CudaPlace]:
    """Yield the places of the entry file that name CUDA, under conditions or not."""
    tree = observations.trees[0]
    receivers = Receivers.of(observations)
    for node in tree.nodes:
        place = _place(tree, node, receivers)
        if place is not None:
            yield place


def _place(tree: SourceTree, node: ast.AST, receivers: Receivers) -> CudaPlace | None:
    if _is_index_of_parallel(tree, node):
        assert isinstance(node, ast.expr)
        return CudaPlace(tree, node, Kind.FALLBACK, otherwise="None")
    match node:
        case ast.Call(func=func, args=[ast.Name() | ast.Attribute() as module, *_]) if (
            named(tree, func) == _SYNCHRONIZED
        ):
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise=tree.source(module))
        case ast.Call(func=ast.Attribute(attr="cuda", value=receiver)) if receivers.has_own_cuda(receiver):
            return None  # the places are in the method
        case ast.Call(func=ast.Attribute(attr="cuda", value=receiver)) if not named(tree, receiver):
            return _moved(tree, node, receiver, is_ambiguous=receivers.may_have_own_cuda(node, receiver))
        case ast.Call() if (like := tensor_of_index(tree, node)) and _is_device_argument(
            tree, node, tree.parents[node]
        ):
            return CudaPlace(tree, node, name=f"{tree.source(like)}.device", pieces=(_whole(tree, node),))
        case ast.Call(func=ast.Attribute(attr="pin_memory", value=receiver), args=[], keywords=[]):
            is_short = _is_short(tree, receiver) or isinstance(receiver, (ast.Name, ast.Attribute))
            reason = "" if is_short else _LONG
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise=tree.source(receiver), reason=reason)
        case ast.Name() | ast.Attribute() if is_index_of_move(tree, node):
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise='"cpu"')
        case ast.expr() if reads_cuda_setting(tree, node) and _is_device(tree, node):
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise='"cpu"')
        case ast.Call(func=ast.Attribute(attr="type"), args=[kind]) if dtype := _dtype(tree, kind):
            return CudaPlace(tree, node, pieces=(move_piece(tree, node, lambda name: f".to({name}, torch.{dtype})"),))
        case ast.Call(func=func) if _TYPED.fullmatch(named(tree, func)):
            return _constructed(tree, node)
        case ast.Call() if is_computed_cuda(node):
            return _literal(tree, node)
        case ast.Attribute() if _TYPED.fullmatch(named(tree, node)):
            return _stored_type(tree, node)
        case ast.Constant() | ast.JoinedStr() | ast.BinOp():
            return _literal(tree, node)
    return None


def _is_index_of_parallel(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether an expression is the index of an accelerator, which a module on the CPU must not be given.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """
    keyword = tree.parents.get(node)
    call = tree.parents[keyword] if isinstance(keyword, ast.keyword) and keyword.arg in _INDEX_KEYWORDS else None
    if not isinstance(call, ast.Call) or named(tree, call.func) not in _PARALLEL:
        return False
    given = {each.arg: each.value for each in call.keywords}
    match given.get("device_ids"), given.get("output_device", node):
        case ast.List(elts=[_, *_]), other:
            return not (isinstance(node, ast.Constant) and node.value is None) and not isinstance(other, ast.IfExp)
    return False


# --- calls of cuda() ------------------------------------------------------------------------------------------------
def _moved(tree: SourceTree, call: ast.Call, receiver: ast.expr, *, is_ambiguous: bool) -> CudaPlace:
    if isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Name) and receiver.func.id == "super":
        return CudaPlace(tree, call, reason=_OVERRIDDEN)
    is_simple = all(isinstance(each, (ast.Name, ast.Attribute)) for each in _chain(receiver))
    if is_ambiguous:
        is_possible = is_simple or _is_assigned(tree, call)
        return CudaPlace(tree, call, Kind.CONDITION, reason="" if is_possible else OWN_CUDA, is_ambiguous=True)
    keywords = [each for each in call.keywords if each.arg != "device"]
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "device")]
    others = [*(f"{each.arg}={tree.source(each.value)}" for each in keywords)]
    if len(given) > 1 and isinstance(given[1], ast.Constant):
        others.insert(0, f"non_blocking={tree.source(given.pop(1))}")
    if len(given) > 1 or any(each.arg is None for each in keywords) or any(isinstance(g, ast.Starred) for g in given):
        return CudaPlace(tree, call, reason=_INDEX)
    index = given[0] if given else None
    if isinstance(index, ast.Constant) and isinstance(index.value, bool):
        return CudaPlace(tree, call, reason=_FLAG)
    if _is_storage(tree, call):
        is_chosen = isinstance(tree.parents[call], ast.IfExp)
        return CudaPlace(tree, call, Kind.CONDITION, reason=_STORAGE if is_chosen else "")
    if index is None or (isinstance(index, ast.Constant) and index.value is None):
        literal = "cuda"
    elif isinstance(index, ast.Constant) and isinstance(index.value, int):
        literal = f"cuda:{index.value}"
    elif like := tensor_of_index(tree, index):
        piece = move_piece(tree, call, lambda name: f".to({', '.join([name, *others])})")
        return CudaPlace(tree, call, name=f"{tree.source(like)}.device", pieces=(piece,))
    elif not is_simple and is_integer(tree, index):
        literal = f"cuda:{{{tree.source(index)}}}"
    else:
        is_possible = (
            is_simple or (isinstance(receiver, ast.Call) and _is_assigned(tree, call)) or _is_short(tree, receiver)
        )
        return CudaPlace(tree, call, Kind.CONDITION, reason="" if is_possible else _INDEX)
    piece = move_piece(tree, call, lambda name: f".to({', '.join([name, *others])})")
    return CudaPlace(tree, call, literal=literal, pieces=(piece,))


def _is_assigned(tree: SourceTree, call: ast.Call) -> bool:
    """Return whether a call is the whole value of an assignment to one name or attribute, in lines of its own."""
    outer = tree.parents[call]
    if not isinstance(outer, ast.Assign) or len(outer.targets) != 1 or "cuda" in tree.source(_receiver(call)):
        return False
    target = outer.targets[0]
    given = {ast.unparse(each) for argument in call.args for each in walk(argument) if isinstance(each, ast.expr)}
    is_plain = all(isinstance(each, (ast.Name, ast.Attribute)) for each in _chain(target))
    return is_plain and ast.unparse(target) not in given and stands_alone(tree, outer)


def _is_short(tree: SourceTree, receiver: ast.expr) -> bool:
    """Return whether an expression may be written twice, in the two branches of a choice: ``x.float()``."""
    text = tree.source(receiver)
    binds = any(isinstance(node, (ast.NamedExpr, ast.Lambda)) for node in walk(receiver))
    return len(text) <= _SHORT and "\n" not in text and "cuda" not in text and not binds


def _receiver(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call


def _chain(node: ast.expr) -> Iterator[ast.expr]:
    yield node
    while isinstance(node, ast.Attribute):
        node = node.value
        yield node


def _is_storage(tree: SourceTree, call: ast.Call) -> bool:
    """Return whether a call moves the storage that ``map_location`` gets."""
    outer = next(each for each in tree.ancestors(call) if not isinstance(each, ast.IfExp))
    return isinstance(outer, ast.Lambda) and len(outer.args.args) == 2


def move_piece(tree: SourceTree, call: ast.Call, text: Callable[[str], str]) -> Piece:
    """Return the part from the end of a receiver, with its parentheses, to the end of the call."""
    func = tree.span(call.func)
    attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    line, column = func.end_line, func.end_column - len(attribute)
    before = tree.lines[line - 1][:column].rstrip().removesuffix(".").rstrip()
    start = (line, len(before)) if before.strip() else (line, tree.lines[line - 1].index("."))
    end = tree.span(call)
    return start, (end.end_line, end.end_column), text


# --- typed constructors ---------------------------------------------------------------------------------------------
def _dtype(tree: SourceTree, node: ast.expr) -> str:
    """Return the name of the dtype of a CUDA tensor type, given as a class or by its name; empty if it is none."""
    name = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else named(tree, node)
    return typed_constructor(name) if own_names(tree).get("torch") == "torch" else ""


def typed_constructor(name: str) -> str:
    """Return the name of the dtype of a CUDA tensor type by its full name; empty if it is none."""
    found = _TYPED.fullmatch(name)
    return _DTYPES[found[1]] if found else ""


def _constructed(tree: SourceTree, call: ast.Call) -> CudaPlace:
    """``torch.cuda.FloatTensor(2, 3)``: sizes, or a list of numbers; a tensor would have to be on the same device."""
    one = call.args[0] if len(call.args) == 1 else None
    is_tensor = isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "cuda"
    known = one is None or holds_sizes(one) or is_filled(tree, call) or is_tensor
    if call.keywords or not isinstance(call.func, ast.Attribute):
        return CudaPlace(tree, call, reason=_UNKNOWN_CONTENT)
    if not known:  # a size, or content, which may be a tensor on the accelerator
        is_plain = one is not None and "cuda" not in tree.source(one)
        return CudaPlace(tree, call, Kind.CONDITION, reason="" if is_plain else _UNKNOWN_CONTENT)
    func, end = tree.span(call.func), tree.span(call)
    name = named(tree, call.func).replace(".cuda", "", 1)
    torch = next(iter(name for name, full in own_names(tree).items() if full == "torch"), "torch")
    name = name.replace("torch", torch, 1)
    dtype = f", torch.{_DTYPES[name.rpartition('.')[2].removesuffix('Tensor')]}" if is_tensor else ""
    name = "" if is_tensor else name
    return CudaPlace(
        tree,
        call,
        pieces=(
            ((func.line, func.column), (func.end_line, func.end_column), lambda _: name),
            ((end.end_line, end.end_column), (end.end_line, end.end_column), lambda device: f".to({device}{dtype})"),
        ),
    )


def is_filled(tree: SourceTree, call: ast.Call) -> bool:
    """Return whether a new tensor is written to before it is read, so that its argument is a size."""
    outer = tree.parents[call]
    if isinstance(outer, ast.keyword):
        return outer.arg == "out"
    return isinstance(outer, ast.Attribute) and outer.attr in _FILLS


def holds_sizes(node: ast.expr) -> bool:
    """Return whether the argument of a typed constructor is a size, or a list of numbers."""
    if isinstance(node, _LITERAL_SIZES):
        return True
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    func = node.func if isinstance(node, ast.Call) else None
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in _SIZES


def _stored_type(tree: SourceTree, node: ast.Attribute) -> CudaPlace | None:
    outer = tree.parents[node]
    if isinstance(outer, ast.Assign) and outer.value is node:
        return CudaPlace(tree, node, Kind.CONDITION, is_ambiguous=True)
    if isinstance(outer, ast.IfExp) and outer.body is node and asks_for_cuda(tree, outer, node):
        return CudaPlace(tree, outer.test, Kind.TEST, is_ambiguous=True)
    return None  # a call, or a comparison, which is false on other devices


# --- literals -------------------------------------------------------------------------------------------------------
def _literal(tree: SourceTree, node: ast.expr) -> CudaPlace | None:
    """Return the place of a literal device where a device is expected."""
    computed = not isinstance(node, ast.Constant)
    if computed and not is_computed_cuda(node):
        return None
    if not computed and not is_cuda_literal(node):
        return None
    place, outer = node, tree.parents[node]
    while isinstance(outer, ast.IfExp) and asks_for_cuda(tree, outer, place):  # ``"cuda" if args.gpus else "cpu"``
        place, outer = outer, tree.parents[outer]
    literal = str(node.value) if isinstance(node, ast.Constant) else ""
    if isinstance(outer, ast.Call) and outer.args[:1] == [place] and named(tree, outer.func) == "torch.device":
        if (
            place is not node
            or isinstance(tree.parents[outer], (ast.Assign, ast.AnnAssign, ast.IfExp))
            or literal != "cuda"
            or len(outer.args) > 1
        ):
            return CudaPlace(tree, node, Kind.CHOICE, literal)
        return CudaPlace(tree, outer, pieces=(_whole(tree, outer),))
    if isinstance(outer, ast.arguments) and (parameter := _parameter(outer, node)) is not None:
        function = tree.parents[outer]
        if computed or not isinstance(function, ast.FunctionDef):
            return CudaPlace(tree, node, Kind.PARAMETER, literal, reason=_PARAMETER, name=parameter.arg)
        if _is_stub(function) or _chooses(function, parameter.arg):
            return None
        return CudaPlace(tree, node, Kind.PARAMETER, literal, name=parameter.arg)
    if not _is_device_argument(tree, place, outer) and not _is_device_value(tree, place, outer):
        return None
    if place is node and literal and _is_moved_by_torch(tree, outer):
        return CudaPlace(tree, node, literal=literal, pieces=(_whole(tree, node),))
    return CudaPlace(tree, node, Kind.CHOICE, literal)


def _is_device(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether a setting is used by PyTorch, or kept, as a device."""
    outer = tree.parents[node]
    if isinstance(outer, ast.Call) and outer.args[:1] == [node] and named(tree, outer.func) == "torch.device":
        return True
    if isinstance(outer, ast.Dict) or (isinstance(outer, ast.keyword) and not _is_moved_by_torch(tree, outer)):
        return False
    return _is_device_argument(tree, node, outer) or _is_device_value(tree, node, outer)


def _is_stub(function: ast.FunctionDef) -> bool:
    """Return whether a function does nothing: one of a protocol, an overload, or an abstract one."""
    return all(
        isinstance(stmt, (ast.Pass, ast.Raise)) or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))
        for stmt in function.body
    )


def _chooses(function: ast.FunctionDef, name: str) -> bool:
    """Return whether a function replaces a device that it was given without CUDA."""
    tests = [ast.unparse(stmt.test) for stmt in function.body if isinstance(stmt, ast.If)]
    return any(test.startswith(f"{name} == ") and "is_available" in test for test in tests)


def _parameter(arguments: ast.arguments, default: ast.expr) -> ast.arg | None:
    """Return the parameter for a device with this default; ``None`` if it is for something else."""
    positional = [*arguments.posonlyargs, *arguments.args]
    names = positional[len(positional) - len(arguments.defaults) :] + arguments.kwonlyargs
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    found = (name for name, each in zip(names, defaults, strict=True) if each is default)
    return next((name for name in found if _DEVICE.fullmatch(name.arg)), None)


def _is_device_argument(tree: SourceTree, node: ast.expr, outer: ast.AST) -> bool:
    """Return whether an expression is the argument ``device`` of a call, or the first one of ``to``."""
    if isinstance(outer, ast.Call):
        return outer.args[:1] == [node] and isinstance(outer.func, ast.Attribute) and outer.func.attr == "to"
    if not isinstance(outer, ast.keyword) or outer.arg not in ("device", "map_location"):
        return False
    call = tree.parents[outer]
    return not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("add_argument", "option"))


def _is_moved_by_torch(tree: SourceTree, outer: ast.AST) -> bool:
    call = tree.parents[outer] if isinstance(outer, ast.keyword) else outer
    return isinstance(call, ast.Call) and (
        named(tree, call.func).startswith("torch.") or getattr(call.func, "attr", "") == "to"
    )


def _is_device_value(tree: SourceTree, node: ast.expr, outer: ast.AST) -> bool:
    """Return whether an expression is assigned to what is named, or used, as a device, or is under such a key."""
    if isinstance(outer, ast.Dict):
        key = next((key for key, value in zip(outer.keys, outer.values, strict=True) if value is node), None)
        return isinstance(key, ast.Constant) and bool(_DEVICE.fullmatch(str(key.value)))
    if not isinstance(outer, (ast.Assign, ast.AnnAssign)) or outer.value is not node:
        return False
    if isinstance(outer, ast.AnnAssign) and isinstance(tree.parents[outer], ast.ClassDef):
        return False  # the default of a dataclass: DEV816
    targets = outer.targets if isinstance(outer, ast.Assign) else [outer.target]
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in targets]
    if any(map(is_answered, targets)):
        return False
    return all(_DEVICE.fullmatch(name) or name in tree.derived(_names_of_devices) for name in names)


def _names_of_devices(tree: SourceTree) -> frozenset[str]:
    """Return the names that are an argument ``device`` of a call, or the first one of ``to``."""
    return frozenset(
        node.id
        for node in tree.nodes
        if isinstance(node, ast.Name) and _is_device_argument(tree, node, tree.parents[node])
    )


def is_computed_cuda(node: ast.expr) -> bool:
    """Return whether an expression is ``f"cuda:{rank}"``, ``"cuda:" + str(rank)`` or ``"cuda:{}".format(rank)``."""
    first: ast.AST = node
    if isinstance(node, ast.JoinedStr) and node.values:
        first = node.values[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        first = node.left
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        first = node.func.value
    return first is not node and isinstance(first, ast.Constant) and str(first.value).startswith("cuda:")


def _whole(tree: SourceTree, node: ast.expr) -> Piece:
    span = tree.span(node)
    return (span.line, span.column), (span.end_line, span.end_column), lambda name: name
