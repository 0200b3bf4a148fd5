"""Signatures: what a function does with devices, as a Python signature with annotations in the words of the stubs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "OPERAND_WORDS",
    "PARAMETER_WORDS",
    "PLACES",
    "RESULT_WORDS",
    "BadSignature",
    "Parameter",
    "Signature",
    "Word",
    "parse_signature",
    "parse_word",
]

#: Words for tensors that take part in a device check.
OPERAND_WORDS = frozenset({"On", "Scalar", "Written", "Out"})

#: Words for parameters, with what they say about an argument.
PARAMETER_WORDS = {
    "On": "a tensor, or a container of tensors, on the device of the call",
    "Scalar": "the same, but a 0-dimensional CPU tensor or a number may join",
    "Written": "a tensor on the device of the call that is modified in place",
    "Out": "a tensor on the device of the call that receives the result",
    "Host": "read by the host: a tensor must be on the CPU",
    "HostItems": "read by the host if it is a container; a tensor's own method is called",
    "Any": "not compared with anything",
    "Buffer": "a tensor that becomes a buffer of the module",
    "Device": "names a device",
    "Generator": "a random number generator",
    "Callable": "a function",
    "int": "a number",
    "float": "a number",
    "bool": "a number",
    "str": "a string",
    "None": "nothing",
}

#: Words for results, with the number of their arguments; ``-1`` stands for any number.
RESULT_WORDS = {
    "On": 0,
    "Integral": -1,
    "Vector": 0,
    "Number": 0,
    "Reduced": 1,
    "Fresh": 1,
    "Like": 1,
    "Of": 1,
    "OnCPU": 0,
    "Same": 1,
    "Copy": 1,
    "Calls": -1,
    "Maps": -1,
    "Future": 1,
    "Array": 0,
    "Any": 0,
    "Escapes": 0,
    "Exits": 0,
    "Module": -1,
    "Needs": 1,
    "Object": 1,
    "Overlay": 0,
    "Device": 1,
    "int": 0,
    "float": 0,
    "bool": 0,
    "str": 0,
    "None": 0,
    "Literal": 1,
    "tuple": -1,
    "list": 1,
}


#: What may stand in the brackets of ``Fresh`` and ``Device`` instead of a parameter.
PLACES = ("cpu", "accelerator", "default")
_PLACES_BY_WORD = {"Fresh": PLACES, "Device": ("accelerator",)}


class BadSignature(ValueError):
    """A signature that is not in the language of the stubs; the message says why."""


@dataclass(frozen=True)
class Word:
    """One word of an annotation, with its arguments: ``Reduced[dim]``, ``tuple[On, Integral]``."""

    name: str
    arguments: tuple[Word, ...] = ()

    def __str__(self) -> str:
        inner = f"[{', '.join(map(str, self.arguments))}]" if self.arguments else ""
        return f"{self.name}{inner}"


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        name: its name.
        word: its annotation; ``Any`` without one.
        kind: ``positional`` (by position only), ``plain``, ``rest`` (``*args``), ``keyword`` (by name only) or
            ``keywords`` (``**kwargs``).
        optional: whether it has a default.

    """

    name: str
    word: Word
    kind: str
    optional: bool

    @property
    def is_operand(self) -> bool:
        """Return whether tensors in the argument take part in the device check."""
        return self.word.name in OPERAND_WORDS


@dataclass(frozen=True)
class Signature:
    """One way to call a function: its parameters and its result."""

    parameters: tuple[Parameter, ...]
    result: Word

    @property
    def operands(self) -> tuple[Parameter, ...]:
        """Return the parameters whose tensors must agree."""
        return tuple(parameter for parameter in self.parameters if parameter.is_operand)

    def parameter(self, name: str) -> Parameter | None:
        """Return a parameter by name; ``None`` if there is none."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


ANY = Word("Any")


def parse_word(node: ast.expr) -> Word:
    """Return the word that an annotation stands for.

    Raises:
        BadSignature: the annotation is no word with words in brackets.

    """
    match node:
        case ast.Name(id=name):
            return Word(name)
        case ast.Constant(value=None):
            return Word("None")
        case ast.Constant(value=value):
            return Word(str(value))
        case ast.Attribute():
            return Word(ast.unparse(node))
        case ast.Subscript(value=ast.Name(id=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return Word(name, tuple(parse_word(part) for part in parts))
    raise BadSignature(f"`{ast.unparse(node)}` is not a word with words in brackets")


def signature_of(node: ast.FunctionDef) -> Signature:
    """Return the signature of a function of a stub.

    Raises:
        BadSignature: a word is unknown, or names a parameter that does not exist.

    """
    parameters = tuple(_parameters(node.args))
    signature = Signature(parameters, parse_word(node.returns) if node.returns is not None else ANY)
    for parameter in parameters:
        if parameter.word.name not in PARAMETER_WORDS:
            raise BadSignature(f"parameter `{parameter.name}`: `{parameter.word}` is not a word for parameters")
    _check_result(signature.result, signature)
    return signature


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    def word(argument: ast.arg) -> Word:
        return ANY if argument.annotation is None else _parameter_word(argument.annotation)

    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        kind = "positional" if index < len(arguments.posonlyargs) else "plain"
        yield Parameter(argument.arg, word(argument), kind, index >= required)
    if arguments.vararg is not None:
        yield Parameter(arguments.vararg.arg, word(arguments.vararg), "rest", True)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(argument.arg, word(argument), "keyword", default is not None)
    if arguments.kwarg is not None:
        yield Parameter(arguments.kwarg.arg, word(arguments.kwarg), "keywords", True)


def _parameter_word(annotation: ast.expr) -> Word:
    """Return the word of a parameter; a class of another stub (``Optimizer``) says nothing about devices."""
    word = parse_word(annotation)
    return Word(word.name) if word.name in OPERAND_WORDS else word


def _check_result(word: Word, signature: Signature) -> None:
    if word.name not in RESULT_WORDS:
        raise BadSignature(f"`{word}` is not a word for results")
    wanted = RESULT_WORDS[word.name]
    if wanted >= 0 and len(word.arguments) != wanted:
        plural = "" if wanted == 1 else "s"
        raise BadSignature(f"`{word.name}` takes {wanted or 'no'} word{plural} in brackets, not {len(word.arguments)}")
    if word.name in ("Future", "Needs", "tuple", "list"):
        for inner in word.arguments:
            _check_result(inner, signature)
    elif word.name in ("Calls", "Maps") and not word.arguments:
        raise BadSignature(f"`{word.name}` names the parameter that is called, and those that are passed to it")
    elif word.name in _NAMES_PARAMETERS:
        for name in (argument.name for argument in word.arguments):
            if signature.parameter(name) is None and name not in _PLACES_BY_WORD.get(word.name, ()):
                raise BadSignature(f"`{word}` names no parameter of the function")


_NAMES_PARAMETERS = frozenset("Reduced Like Of Same Copy Calls Maps Device Fresh Integral Module".split())


@lru_cache(maxsize=4096)
def parse_signature(text: str) -> Signature:
    """Return the signature ``(input: On, dim: int = ...) -> On``.

    Raises:
        BadSignature: it is no Python signature, or not in the language of the stubs.

    """
    try:
        (function,) = ast.parse(f"def f{text}: ...").body
    except (SyntaxError, ValueError) as error:
        raise BadSignature(str(error)) from None
    if not isinstance(function, ast.FunctionDef):
        raise BadSignature(f"`{text}` is not a signature")
    return signature_of(function)
