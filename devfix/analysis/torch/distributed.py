"""Process groups: which memory their backend reads, and what is given to it.

NCCL moves the accelerator's memory only; Gloo, and a group without a named backend, serve the CPU, too:
https://docs.pytorch.org/docs/stable/distributed.html#backends
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    Const,
    Keywords,
    Place,
    Ref,
    TupleValue,
    Value,
    options,
)
from devfix.analysis.move_observations import Wrapped
from devfix.analysis.observations import Operand
from devfix.analysis.scenarios import accelerator, become_current
from devfix.analysis.transfer.device_arguments import place_of
from devfix.analysis.transfer.device_check import Side, meet, tensors_in, weights_side
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["brought_to", "collective", "init", "initialized", "note_ids", "set_device", "wrap"]


def init(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``init_process_group``: the group's backend, where the code tells."""
    backend = args[0] if args else keywords.get("backend", NONE)
    run.facts.distributed = True
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
                meet(run, node, name.split(".")[-1], [side, _group(run)])
    return NONE


def wrap(run: Interpreter, ref: Ref, keywords: Keywords, node: ast.Call) -> None:
    """``DistributedDataParallel`` is built: the module must be where ``device_ids``, or NCCL, need it."""
    from devfix.analysis.torch import modules

    told = _names_devices(run, keywords.get("device_ids", NONE))
    if not (told or _only_accelerators(run)):
        return
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "device_ids"), None)
    ids = Side([(brought_to(run, keywords) or ANYWHERE, Operand("" if given is None else text_of(given)))])
    weighted = [part for _, part in modules.parts(run, ref) if run.record(part).weights]
    for part in weighted:
        if run.two or run.record(part).places == frozenset({CPU}):
            weights = weights_side(run, part, text_of(node.args[0]))
            meet(run, node, "DistributedDataParallel", [weights, ids if told else _group(run)])


def brought_to(run: Interpreter, keywords: Keywords) -> Place | None:
    """Where ``DistributedDataParallel`` brings its inputs; ``None`` where it leaves them: without ``device_ids``.

    ``torch/nn/parallel/distributed.py``, ``_pre_forward``.
    """
    given = keywords.get("device_ids", NONE)
    if given == NONE and "**" not in keywords:
        return None
    if not run.two:
        return ACCELERATOR
    held: list[Value] = list(given.items) if isinstance(given, TupleValue) else []
    if isinstance(given, Ref):
        held = list(run.record(given).fields.values())
    return (place_of(run, held[0]) or ANYWHERE) if len(held) == 1 else ANYWHERE


def set_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.cuda.set_device``."""
    if args or "device" in keywords:
        become_current(run, args[0] if args else keywords["device"])
        run.facts.set_current = run.facts.set_current or run.site(node)
    return NONE


def note_ids(run: Interpreter, ref: Ref, node: ast.Call) -> None:
    """A module is wrapped with a literal list of indices: where it is on an accelerator, the first is to be that."""
    from devfix.analysis.torch import modules

    if modules.first_place(run, ref) != ACCELERATOR:
        return
    ids = next((keyword.value for keyword in node.keywords if keyword.arg == "device_ids"), None)
    moved = run.record(ref).moved
    if isinstance(ids, ast.List) and ids.elts and moved is not None and node not in run.facts.wrapped:
        run.facts.wrapped[node] = Wrapped(run.site(node, remember=True), node, ids, moved, run.latent)


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


def _group(run: Interpreter) -> Side:
    """The process group as an operand: it lives on the accelerator, of which each process has its own."""
    return Side([(accelerator(run, zero=False), Operand(""))])
