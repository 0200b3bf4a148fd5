"""The places of a file that require CUDA: where it puts values, and where it names the device for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from codemods.portability._guards import asks_for_cuda
from codemods.portability._torch_names import named, own_names, stands_alone
from codemods.portability.places.cuda_place import CudaPlace, Kind, Piece
from codemods.portability.places.indices import (
    is_index_of_many,
    is_index_of_move,
    is_integer,
    is_kept_as_device,
    tensor_of_index,
)
from codemods.portability.places.literals import (
    is_computed_cuda,
    is_device_argument,
    is_used_as_device,
    literal_place,
    whole,
)
from codemods.portability.places.receivers import Receivers
from codemods.portability.places.settings_reads import reads_cuda_setting
from devfix.analysis import Observations
from devfix.analysis.domain.values import CPU, Tensor, alternatives
from devfix.syntax.tree import SourceTree, walk

__all__ = [
    "OWN_CUDA",
    "holds_sizes",
    "is_filled",
    "move_piece",
    "named_places",
    "typed_constructor",
]

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
_OF_TENSORS = ("device", "dim", "dtype", "numel", "shape", "size", "view")
_SIZES = ("size", "len", "numel", "int")

_OVERRIDDEN = "the class overrides how it is moved"
OWN_CUDA = "`cuda` may be a method of a class of the program"
_INDEX = "the accelerator is chosen by an expression"
_KEYWORD = "PyTorch's `cuda` takes no such argument"
_UNKNOWN_CONTENT = "its argument may be a size or the content"
_LONG = "what is pinned is a long expression"
_FLAG = "a flag is passed as the device"
_PARALLEL = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel")
_INDEX_KEYWORDS = ("device_ids", "output_device")
_SYNCHRONIZED = "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
_SPLIT = ("torch.nn.parallel.data_parallel", "torch.nn.parallel.data_parallel.data_parallel")
_STORAGE = "a storage is moved"


def named_places(observations: Observations) -> Iterator[CudaPlace]:
    """Yield the places of the entry file that name CUDA, under conditions or not."""
    tree = observations.trees[0]
    receivers = Receivers.of(observations)
    for node in tree.nodes:
        place = _place(tree, node, receivers)
        if place is not None:
            yield place
    if "mps" in observations.targets.others:
        yield from _scattered(observations)


def _scattered(observations: Observations) -> Iterator[CudaPlace]:
    """Yield the inputs of ``DataParallel`` modules: with MPS, it leaves them on the CPU, beside its module's weights.

    https://github.com/pytorch/pytorch/blob/v2.6.0/torch/nn/parallel/data_parallel.py
    """
    tree = observations.trees[0]
    for node, value in observations.scattered.items():
        options = alternatives(value)
        is_on_cpu = all(isinstance(each, Tensor) and each.device == CPU for each in options)
        is_tensor = not any(isinstance(each, Tensor) and each.maybe_container for each in options)
        is_simple = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) and node in tree.parents
        if is_simple and is_on_cpu and (is_tensor or _is_used_as_tensor(tree, node)):
            end = tree.span(node)
            at = end.end_line, end.end_column
            yield CudaPlace(tree, node, pieces=((at, at, lambda name: f".to({name})"),))


def _is_used_as_tensor(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether a name is asked for what only tensors have, ``x.size(0)``, or is a ``Variable(x)``."""
    text = ast.unparse(node)
    for each in walk(tree.function(node)):
        match each:
            case ast.Attribute(attr=name, value=value) if name in _OF_TENSORS and ast.unparse(value) == text:
                return True
            case ast.Assign(targets=[target], value=ast.Call(func=func)) if ast.unparse(target) == text:
                if named(tree, func) == "torch.autograd.Variable":
                    return True
    return False


def _place(tree: SourceTree, node: ast.AST, receivers: Receivers) -> CudaPlace | None:
    if _is_index_of_parallel(tree, node):
        assert isinstance(node, ast.expr)
        return CudaPlace(tree, node, Kind.FALLBACK, otherwise="None")
    match node:
        case ast.Call(func=func, args=[ast.Name() | ast.Attribute() as module, *_]) if (
            named(tree, func) == _SYNCHRONIZED
        ):
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise=tree.source(module))
        case ast.Call(func=func) if named(tree, func) in _SPLIT:
            called = _called_whole(tree, node)
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise=called) if called else None
        case ast.Call(func=ast.Attribute(attr="cuda", value=receiver)) if not named(tree, receiver):
            return _moved(tree, node, receiver, is_ambiguous=receivers.may_have_own_cuda(node, receiver))
        case ast.Call() if (like := tensor_of_index(tree, node)) and is_device_argument(tree, node, tree.parents[node]):
            return CudaPlace(tree, node, name=f"{tree.source(like)}.device", pieces=(whole(tree, node),))
        case ast.Call(func=ast.Attribute(attr="pin_memory", value=receiver), args=[], keywords=[]):
            is_short = _is_short(tree, receiver) or isinstance(receiver, (ast.Name, ast.Attribute))
            reason = "" if is_short else _LONG
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise=tree.source(receiver), reason=reason)
        case ast.BinOp(right=ast.Call(func=count)) if named(
            tree, count
        ) == "torch.cuda.device_count" and is_index_of_many(tree, node):
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise='"cpu"' if is_kept_as_device(tree, node) else "0")
        case ast.Name() | ast.Attribute() | ast.Subscript() if is_index_of_move(tree, node):
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise='"cpu"')
        case ast.expr() if reads_cuda_setting(tree, node) and is_used_as_device(tree, node):
            return CudaPlace(tree, node, Kind.FALLBACK, otherwise='"cpu"')
        case ast.Call(func=ast.Attribute(attr="type"), args=[kind]) if dtype := _dtype(tree, kind):
            return CudaPlace(tree, node, pieces=(move_piece(tree, node, lambda name: f".to({name}, torch.{dtype})"),))
        case ast.Call(func=func) if _TYPED.fullmatch(named(tree, func)):
            return _constructed(tree, node)
        case ast.Call() if is_computed_cuda(node):
            return literal_place(tree, node)
        case ast.Attribute() if _TYPED.fullmatch(named(tree, node)):
            return _stored_type(tree, node)
        case ast.Constant() | ast.JoinedStr() | ast.BinOp():
            return literal_place(tree, node)
    return None


def _called_whole(tree: SourceTree, node: ast.Call) -> str:
    """Return the call of a module that ``data_parallel`` would make in parts; empty if its code cannot be repeated.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.data_parallel.html
    """
    match node.args:
        case [ast.Name() | ast.Attribute() as module, ast.Name() | ast.Attribute() | ast.Subscript() as inputs, *_] if (
            _is_short(tree, inputs)
        ):
            given = tree.source(inputs)
        case [ast.Name() | ast.Attribute() as module, ast.Tuple(elts=[_, *_] as items), *_] if all(
            _is_short(tree, item) for item in items
        ):
            given = ", ".join(map(tree.source, items))
        case _:
            return ""
    takes_more = any(keyword.arg in ("module_kwargs", None) for keyword in node.keywords) or len(node.args) > 5
    return "" if takes_more else f"{tree.source(module)}({given})"


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
    if is_ambiguous and any(isinstance(each, ast.Starred) for each in call.args):
        return CudaPlace(tree, call, Kind.CONDITION, reason=OWN_CUDA, is_ambiguous=True)  # it returns what it is given
    if is_ambiguous:
        is_possible = is_simple or _is_assigned(tree, call)
        return CudaPlace(tree, call, Kind.CONDITION, reason="" if is_possible else OWN_CUDA, is_ambiguous=True)
    if any(each.arg not in ("device", "non_blocking", "memory_format", None) for each in call.keywords):
        return CudaPlace(tree, call, reason=_KEYWORD)
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
        has_other = "cuda" not in tree.source(outer.orelse)
        return CudaPlace(tree, outer.test, Kind.TEST, is_ambiguous=True) if has_other else None
    return None  # a call, or a comparison, which is false on other devices
