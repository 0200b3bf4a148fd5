"""Process groups: which memory their backend reads, and what is given to it.

NCCL moves the accelerator's memory only; Gloo, and a group without a named backend, serve the CPU, too:
https://docs.pytorch.org/docs/stable/distributed.html#backends
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.flow.facts import Operand
from devfix.flow.meetings import Side, meet, tensors_in, weights_side
from devfix.flow.syntax import text_of
from devfix.flow.values import ACCELERATOR, CPU, NONE, Const, Keywords, Ref, TupleValue, Value, options

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = ["collective", "init", "initialized", "wrap"]


def init(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``init_process_group``: the group's backend, where the code tells."""
    backend = args[0] if args else keywords.get("backend", NONE)
    run.backend = str(backend.value) if isinstance(backend, Const) and isinstance(backend.value, str) else "unknown"
    return NONE


def initialized(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``is_initialized``."""
    return Const(run.backend is not None)


def collective(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """A collective: under NCCL each of its tensors must be on the accelerator."""
    if _only_accelerators(run) and "group" not in keywords:
        texts = [text_of(argument) for argument in node.args]
        named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords if keyword.arg}
        given = [*zip(args, texts, strict=False), *((value, named.get(key, key)) for key, value in keywords.items())]
        for value, text in given:
            for side in tensors_in(run, value, text):
                meet(run, node, name.split(".")[-1], [side, _group()])
    return NONE


def wrap(run: Interpreter, ref: Ref, keywords: Keywords, node: ast.Call) -> None:
    """``DistributedDataParallel`` is built: the module must be where ``device_ids``, or NCCL, need it."""
    from devfix.flow import modules

    if not (_names_devices(run, keywords.get("device_ids", NONE)) or _only_accelerators(run)):
        return
    weighted = [part for _, part in modules.parts(run, ref) if run.record(part).weights]
    for part in weighted:
        if run.record(part).places == frozenset({CPU}):
            meet(run, node, "DistributedDataParallel", [weights_side(run, part, text_of(node.args[0])), _group()])


def _only_accelerators(run: Interpreter) -> bool:
    return run.backend == "nccl"


def _names_devices(run: Interpreter, value: Value) -> bool:
    """Whether ``device_ids`` names one for certain."""
    alternatives = options(value)
    return all(
        (isinstance(option, TupleValue) and bool(option.items))
        or (isinstance(option, Ref) and run.record(option).kind == "list" and bool(run.record(option).fields))
        for option in alternatives
    )


def _group() -> Side:
    """The process group as an operand: it lives on the accelerator."""
    return Side([(ACCELERATOR, Operand(""))])
