"""Reading of pickles without executing them.

A pickle is a program for a stack machine.  This machine builds plain values and records, and calls nothing: a global is
its name, and an object is the name of its class with the arguments and the state that it would get.
"""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Global", "Object", "Pairs", "PickleError", "load"]

#: Instructions of one pickle.
MOST_INSTRUCTIONS = 200_000


class PickleError(Exception):
    """The pickle is damaged, too long, or uses an unknown instruction."""


class Global(NamedTuple):
    """A class or a function by its qualified name."""

    name: str


@dataclass(eq=False)
class Pairs:
    """A dictionary as a list of its items: keys of hostile pickles are never hashed."""

    items: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(eq=False)
class Object:
    """The result of a call that was not made.

    Attributes:
        name: the qualified name of the class or function.
        arguments: the call's arguments.
        state: the object's state; None if there is none.
        contents: items that are appended to it.
        pairs: items that are set in it.

    """

    name: str
    arguments: Any
    state: Any = None
    contents: list[Any] = field(default_factory=list)
    pairs: list[tuple[Any, Any]] = field(default_factory=list)


#: Dictionaries by the functions that make them.
_DICTIONARIES = {"collections.OrderedDict", "collections.defaultdict", "collections.Counter", "builtins.dict"}


def load(stream: io.BytesIO) -> Any:
    """Return the next pickle of a stream.

    Raises:
        PickleError: it cannot be read.

    """
    machine = _Machine()
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(stream)):
            if number > MOST_INSTRUCTIONS:
                raise PickleError("it has too many instructions")
            if opcode.name == "STOP":
                return machine.pop()
            machine.execute(opcode.name, argument)
    except PickleError:
        raise
    except Exception as error:  # damaged on purpose or by accident
        raise PickleError(f"it is damaged ({type(error).__name__})") from error
    raise PickleError("it has no end")


class _Machine:
    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._marked: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def execute(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _LITERALS:
            self._stack.append(argument)
        elif name in _INSTRUCTIONS:
            _INSTRUCTIONS[name](self, argument)
        elif name not in ("PROTO", "FRAME"):
            raise PickleError(f"it uses the instruction {name}")

    def pop(self) -> Any:
        return self._stack.pop()

    def _pop_mark(self) -> list[Any]:
        found = self._stack
        self._stack = self._marked.pop()
        return found

    def mark(self, _: Any) -> None:
        self._marked.append(self._stack)
        self._stack = []

    def drop(self, _: Any) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self._pop_mark()

    def drop_marked(self, _: Any) -> None:
        self._pop_mark()

    def duplicate(self, _: Any) -> None:
        self._stack.append(self._stack[-1])

    def put(self, number: int) -> None:
        self._memo[int(number)] = self._stack[-1]

    def memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def get(self, number: int) -> None:
        self._stack.append(self._memo[int(number)])

    def empty_list(self, _: Any) -> None:
        self._stack.append([])

    def empty_dictionary(self, _: Any) -> None:
        self._stack.append(Pairs())

    def empty_set(self, _: Any) -> None:
        self._stack.append(Object("builtins.set", ()))

    def list_of_marked(self, _: Any) -> None:
        items = self._pop_mark()
        self._stack.append(list(items))

    def tuple_of_marked(self, _: Any) -> None:
        items = self._pop_mark()
        self._stack.append(tuple(items))

    def set_of_marked(self, _: Any) -> None:
        items = self._pop_mark()
        self._stack.append(Object("builtins.set", (), contents=list(items)))

    def dictionary_of_marked(self, _: Any) -> None:
        items = self._pop_mark()
        self._stack.append(Pairs(list(zip(items[::2], items[1::2]))))

    def tuple_of(self, count: int) -> None:
        items = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._stack.append(items)

    def append(self, _: Any) -> None:
        item = self._stack.pop()
        self._extend([item])

    def append_marked(self, _: Any) -> None:
        items = self._pop_mark()
        self._extend(items)

    def _extend(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if isinstance(target, list):
            target.extend(items)
        elif isinstance(target, Object):
            target.contents.extend(items)
        else:
            raise PickleError("it appends to a value that is no list")

    def set_item(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._update([key, value])

    def set_marked(self, _: Any) -> None:
        items = self._pop_mark()
        self._update(items)

    def _update(self, items: list[Any]) -> None:
        target = self._stack[-1]
        pairs = zip(items[::2], items[1::2])
        if isinstance(target, Pairs):
            target.items.extend(pairs)
        elif isinstance(target, Object):
            target.pairs.extend(pairs)
        else:
            raise PickleError("it sets an item of a value that is no dictionary")

    def named(self, text: str) -> None:
        self._stack.append(Global(str(text).replace(" ", ".")))

    def named_on_stack(self, _: Any) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if not (isinstance(name, str) and isinstance(module, str)):
            raise PickleError("it names a global by a value that is no text")
        self._stack.append(Global(f"{module}.{name}"))

    def call(self, _: Any) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        self._push_call(function, arguments)

    def call_with_keywords(self, _: Any) -> None:
        keywords, arguments, function = self._stack.pop(), self._stack.pop(), self._stack.pop()
        self._push_call(function, (arguments, keywords))

    def call_marked(self, _: Any) -> None:
        function, *arguments = self._pop_mark()
        self._push_call(function, tuple(arguments))

    def call_named(self, text: str) -> None:
        arguments = self._pop_mark()
        self._push_call(Global(str(text).replace(" ", ".")), tuple(arguments))

    def _push_call(self, function: Any, arguments: Any) -> None:
        name = function.name if isinstance(function, Global) else "a computed function"
        if name in _DICTIONARIES and (not arguments or not isinstance(arguments[-1], (Pairs, list))):
            self._stack.append(Pairs())
        else:
            self._stack.append(Object(name, arguments))

    def build(self, _: Any) -> None:
        state = self._stack.pop()
        if isinstance(self._stack[-1], Object):
            self._stack[-1].state = state
        elif not isinstance(self._stack[-1], Pairs):  # attributes of a dictionary, as of an OrderedDict, say nothing
            raise PickleError("it sets the state of a value that is no object")

    def refer(self, _: Any) -> None:
        self._stack.append(Object("persistent", self._stack.pop()))

    def refer_by_name(self, text: str) -> None:
        self._stack.append(Object("persistent", text))


_CONSTANTS: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}

_LITERALS = frozenset(
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE "
    "BINUNICODE8 SHORT_BINUNICODE BINBYTES BINBYTES8 SHORT_BINBYTES BYTEARRAY8".split()
)

_INSTRUCTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "MARK": _Machine.mark,
    "POP": _Machine.drop,
    "POP_MARK": _Machine.drop_marked,
    "DUP": _Machine.duplicate,
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.put),
    "MEMOIZE": _Machine.memoize,
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    "EMPTY_LIST": _Machine.empty_list,
    "EMPTY_DICT": _Machine.empty_dictionary,
    "EMPTY_SET": _Machine.empty_set,
    "LIST": _Machine.list_of_marked,
    "TUPLE": _Machine.tuple_of_marked,
    "FROZENSET": _Machine.set_of_marked,
    "DICT": _Machine.dictionary_of_marked,
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "APPEND": _Machine.append,
    **dict.fromkeys(("APPENDS", "ADDITEMS"), _Machine.append_marked),
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_marked,
    "GLOBAL": _Machine.named,
    "STACK_GLOBAL": _Machine.named_on_stack,
    **dict.fromkeys(("REDUCE", "NEWOBJ"), _Machine.call),
    "NEWOBJ_EX": _Machine.call_with_keywords,
    "OBJ": _Machine.call_marked,
    "INST": _Machine.call_named,
    "BUILD": _Machine.build,
    "BINPERSID": _Machine.refer,
    "PERSID": _Machine.refer_by_name,
}
