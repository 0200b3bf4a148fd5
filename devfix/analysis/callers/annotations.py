"""Kinds of arguments by annotations: names, unions, containers, strings, aliases, jaxtyping, type comments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.analysis.callers.arguments import Argument, Evidence, Kind, union
from devfix.analysis.callers.file_names import FileNames

__all__ = ["annotation_kind", "type_comments"]

_MOST_DEPTH = 6  # of aliases and nested annotations

# Kinds by the last part of a class's name.
_KINDS: dict[str, Kind] = {
    name: kind
    for kind, names in {
        Kind.TENSOR: "Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor "
        "ByteTensor CharTensor BoolTensor Parameter MetaTensor TensorType",
        Kind.MODULE: "Module",
        Kind.DTYPE: "dtype",
        Kind.NUMBER: "int float complex Number Real Integral SupportsFloat SupportsInt float16 float32 float64 int32 "
        "int64 integer floating",
        Kind.BOOL: "bool bool_",
        Kind.TEXT: "str bytes Path PathLike PurePath LiteralString AnyStr",
        Kind.ARRAY: "ndarray NDArray ArrayLike DataFrame Series csr_matrix csc_matrix coo_matrix spmatrix",
        Kind.LIST: "list List tuple Tuple Sequence MutableSequence Iterable Iterator Collection set Set frozenset "
        "FrozenSet range Generator deque Size",
        Kind.CALLABLE: "Callable FunctionType type Type",
    }.items()
    for name in names.split()
}
_FULL_KINDS = {
    "torch.device": Kind.DEVICE,
    "device": Kind.DEVICE,
    "torch.types.Device": Kind.DEVICE,
    "PIL.Image.Image": Kind.ARRAY,
    "PIL.Image": Kind.ARRAY,
    "torch.Generator": Kind.UNKNOWN,
    "inspect.Parameter": Kind.UNKNOWN,
    "torch.nn.ParameterList": Kind.MODULE,
}
_NONE = frozenset({"None", "NoneType"})
_SEQUENCES = frozenset(
    "list List tuple Tuple Sequence MutableSequence Iterable Iterator Collection set Set frozenset Generator deque "
    "NamedTuple".split()
)
_MAPPINGS = frozenset("dict Dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split())
_WRAPPERS = frozenset("Annotated Final ClassVar Required NotRequired ReadOnly Unpack".split())
_SHAPED = frozenset(  # https://docs.kidger.site/jaxtyping/api/array/
    "Float Float16 Float32 Float64 BFloat16 Int Int8 Int16 Int32 Int64 UInt UInt8 Integer Num Bool Shaped Complex "
    "Inexact Real".split()
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|\d+")
_OPTIONAL_WORDS = frozenset({"Opt", "Optional", "Maybe"})
_SEVERAL_WORDS = frozenset({"Pair", "Tensors", "List", "Tuple", "Sequence", "Seq", "Triple", "Iterable", "Tuples"})
_ARRAY_WORDS = frozenset({"Array", "Ndarray", "Nd", "NumPy", "Numpy", "Arrays"})


def annotation_kind(node: ast.expr, names: FileNames) -> Argument:
    """Return what an annotation says; ``UNKNOWN`` for classes that have no kind."""
    kinds, optional = _kinds(node, names, _MOST_DEPTH)
    return union(list(dict.fromkeys(kinds)), optional, Evidence.ANNOTATION)


def _kinds(node: ast.expr, names: FileNames, depth: int) -> tuple[list[Kind], bool]:
    """Return the kinds of an annotation and whether it includes ``None``."""
    if depth == 0:
        return [Kind.UNKNOWN], False
    match node:
        case ast.Constant(value=None):
            return [], True
        case ast.Constant(value=str(text)):
            try:
                return _kinds(ast.parse(text.strip(), mode="eval").body, names, depth - 1)
            except (SyntaxError, ValueError):
                return [Kind.UNKNOWN], False
        case ast.BinOp(op=ast.BitOr()):
            return _joined(_members(node), names, depth)
        case ast.Subscript(value=base, slice=inner):
            return _subscript(names.full_name(base), base, inner, names, depth)
        case ast.Name() | ast.Attribute():
            return _named(node, names, depth)
    return [Kind.UNKNOWN], False


def _members(node: ast.expr) -> list[ast.expr]:
    """Return the members of ``A | B | C``."""
    found: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _joined(parts: list[ast.expr], names: FileNames, depth: int) -> tuple[list[Kind], bool]:
    found = [_kinds(part, names, depth - 1) for part in parts]
    return [kind for kinds, _ in found for kind in kinds], any(optional for _, optional in found)


def _subscript(full: str, base: ast.expr, inner: ast.expr, names: FileNames, depth: int) -> tuple[list[Kind], bool]:
    last = full.rpartition(".")[2]
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if last == "Optional":
        return _kinds(inner, names, depth - 1)[0], True
    if last == "Union":
        return _joined(parts, names, depth)
    if last == "Literal":
        return [_literal_kind(part) for part in parts if not _is_none(part)], any(map(_is_none, parts))
    if (last in _WRAPPERS or last in _SHAPED) and parts:
        return _kinds(parts[0], names, depth - 1)
    if last in _MAPPINGS:
        values = _kinds(parts[-1], names, depth - 1)[0]
        return [Kind.TENSOR_DICT if values == [Kind.TENSOR] else Kind.UNKNOWN], False
    if last in _SEQUENCES:
        elements = [element for element in parts if not _is_ellipsis(element)]
        return [_element_kind([_kinds(element, names, depth - 1)[0] for element in elements])], False
    return _kinds(base, names, depth - 1)


def _element_kind(elements: list[list[Kind]]) -> Kind:
    """Return the kind of a sequence with elements of these kinds."""
    kinds = {kind for element in elements for kind in element}
    if kinds and kinds <= {Kind.TENSOR, Kind.TENSORS}:
        return Kind.TENSORS  # an element that is a sequence gives tensors, like a tensor does
    if kinds & {Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_DICT, Kind.MODULE}:
        return Kind.UNKNOWN
    return Kind.LIST


def _literal_kind(node: ast.expr) -> Kind:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool):
        return Kind.BOOL
    if isinstance(value, str):
        return Kind.TEXT
    return Kind.NUMBER if isinstance(value, (int, float)) else Kind.UNKNOWN


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _named(node: ast.expr, names: FileNames, depth: int) -> tuple[list[Kind], bool]:
    if isinstance(node, ast.Name):
        alias = names.aliases.get(node.id)
        if alias is not None and node.id not in names.imported:
            return _alias(alias, names, depth)
    full = names.full_name(node)
    if full in _FULL_KINDS:
        return [_FULL_KINDS[full]], False
    last = full.rpartition(".")[2]
    if last in _NONE:
        return [], True
    if last in _KINDS:
        return [_KINDS[last]], False
    if names.is_module_class(node):
        return [Kind.MODULE], False
    by_words = _by_words(last)
    return by_words if by_words[0] != [Kind.UNKNOWN] else _imported(node, names, depth)


def _imported(node: ast.expr, names: FileNames, depth: int) -> tuple[list[Kind], bool]:
    """Return the kinds of a name that another file of the project defines."""
    definition = names.definition(node.id) if isinstance(node, ast.Name) else None
    if definition is None:
        return [Kind.UNKNOWN], False
    others, value = definition
    if isinstance(value, ast.ClassDef):
        return [Kind.MODULE if others.derives_from_module(value) else Kind.UNKNOWN], False
    return _alias(value, others, depth)


def _alias(value: ast.expr, names: FileNames, depth: int) -> tuple[list[Kind], bool]:
    """Return the kinds behind ``Alias = value``, also if the value is a ``TypeVar`` or a ``NewType``."""
    if not isinstance(value, ast.Call):
        return _kinds(value, names, depth - 1)
    last = names.full_name(value.func).rpartition(".")[2]
    if last == "TypeVar":
        bound = [keyword.value for keyword in value.keywords if keyword.arg == "bound"]
        return _joined(bound or value.args[1:], names, depth)
    if last == "NewType" and len(value.args) == 2:
        return _kinds(value.args[1], names, depth - 1)
    return [Kind.UNKNOWN], False


def _by_words(name: str) -> tuple[list[Kind], bool]:
    """Return what the words of an imported alias say: ``OptTensor``, ``PairTensor``, ``NdarrayOrTensor``."""
    words = set(_WORD.findall(name))
    several = bool(words & _SEVERAL_WORDS)
    rest = words - _OPTIONAL_WORDS - _SEVERAL_WORDS - _ARRAY_WORDS - {"Tensor", "Or"}
    if rest or not words & {"Tensor", "Tensors"}:
        return [Kind.UNKNOWN], False
    kinds = [Kind.TENSORS if several else Kind.TENSOR]
    if words & _ARRAY_WORDS:
        kinds.append(Kind.ARRAY)
    return kinds, bool(words & _OPTIONAL_WORDS)


_COMMENT = re.compile(r"#\s*type:\s*(?!ignore)(.+)$")


def type_comments(
    function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str], parameters: list[ast.arg]
) -> dict[str, ast.expr]:
    """Return the annotations in type comments: ``# type: (Tensor, int) -> Tensor``, or one for each parameter.

    https://peps.python.org/pep-0484/#suggested-syntax-for-python-2-7-and-straddling-code
    """
    found: dict[str, ast.expr] = {}
    for line, text in _comments(function, lines):
        if text.startswith("("):
            return found or _signature_comment(text.partition("->")[0], parameters)
        there = [parameter for parameter in parameters if parameter.end_lineno == line]
        annotation = _expression(text)
        if len(there) == 1 and annotation is not None:
            found[there[0].arg] = annotation
    return found


def _signature_comment(text: str, parameters: list[ast.arg]) -> dict[str, ast.expr]:
    """Return the annotations of ``(Tensor, int)``, which may leave out ``self``."""
    elements = _expression(text)
    parts = elements.elts if isinstance(elements, ast.Tuple) else [elements] if elements else []
    if not parts or len(parts) > len(parameters):
        return {}
    return {parameter.arg: part for parameter, part in zip(parameters[-len(parts) :], parts, strict=True)}


def _comments(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Iterator[tuple[int, str]]:
    for number in range(function.lineno, min(function.body[0].lineno, len(lines)) + 1):
        match = _COMMENT.search(lines[number - 1])
        if match is not None:
            yield number, match[1].strip()


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
