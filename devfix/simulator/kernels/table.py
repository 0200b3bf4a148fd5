"""Operator table, read from ``native_functions.yaml``, which every PyTorch wheel includes.

For each ATen overload: whether a CUDA kernel exists, whether its generated wrapper checks devices, whether the kernel
is a TensorIterator (which checks devices itself), and the wrapper's name for the error message.

The file is regular, so a line reader suffices (about 20 ms); a YAML library may not be installed.  The rules are those
of torchgen/dest/register_dispatch_key.py (``gen_device_check``, ``wrapper_kernel_sig``), torchgen/api/native.py and
cpp.py (``name``).  tests/conformance/standin/names.py compares them with CUDA libraries: all 486 (2.4.1), 693 (2.11.0)
and 698 (2.13.0) wrapper names are derived correctly.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch

__all__ = ["Kernel", "kernels", "kernels_file"]


class Kernel(NamedTuple):
    """One overload of ``native_functions.yaml``.

    Attributes:
        cuda: a CUDA kernel exists (its own, or a structured one).
        mps: an MPS kernel exists.
        exact_same: the generated wrapper compares the devices of all its tensor arguments.
        iterator: the kernel is a TensorIterator, which compares devices itself.
        method: the wrapper's name in the message, for example ``wrapper_CUDA__index_select``.

    """

    cuda: bool
    mps: bool
    exact_same: bool
    iterator: bool
    method: str


class _Entry(NamedTuple):
    name: str
    schema: str
    check: bool
    iterator: bool
    structured: bool
    delegate: str | None
    cuda: bool
    mps: bool


_KEY = re.compile(r"^    ([A-Za-z0-9_, ]+):")


def kernels_file() -> Path | None:
    """Return the path of ``native_functions.yaml`` in the installed PyTorch; None if the wheel does not have it."""
    path = Path(torch.__file__).parent.parent / "torchgen/packaged/ATen/native/native_functions.yaml"
    return path if path.is_file() else None


def _entry(lines: list[str]) -> _Entry:
    schema = lines[0]
    check, iterator, structured, cuda, mps = True, False, False, False, False
    delegate = None
    for line in lines[1:]:
        if line.startswith("    "):
            key = _KEY.match(line)
            keys = key[1].replace(" ", "").split(",") if key else []
            cuda = cuda or "CUDA" in keys
            mps = mps or "MPS" in keys or any(each.startswith("Composite") for each in keys)
        elif line.startswith("  device_check:"):
            check = "NoCheck" not in line
            iterator = iterator or "TensorIterator" in line
        elif line.startswith("  structured_delegate:"):
            delegate = line.split(":", 1)[1].split("#")[0].strip()
        elif line.startswith("  structured_inherits:"):
            iterator = iterator or "TensorIterator" in line
        elif line.startswith("  structured:"):
            structured = "True" in line
        elif line.startswith("  ufunc_inner_loop:"):
            cuda = True  # generated kernels for CPU and CUDA, without a dispatch block
    return _Entry(schema.split("(", 1)[0].strip(), schema, check, iterator, structured, delegate, cuda, mps)


def _method(entry: _Entry) -> str:
    name, _, overload = entry.name.partition(".")
    out = re.search(r"\*, .*Tensor\([a-z]!\)", entry.schema.split("->")[0]) is not None
    if entry.structured or entry.delegate:
        return "wrapper_CUDA_" + name + ("_out" if out else "") + (f"_{overload}" if overload else "")
    return f"wrapper_CUDA_{overload}_{name}" + ("_out" if out else "")


@lru_cache(maxsize=1)
def kernels() -> dict[str, Kernel]:
    """Return all overloads by qualified name (``aten::add.Tensor``); empty if the file is missing."""
    path = kernels_file()
    if path is None:
        return {}
    entries: dict[str, _Entry] = {}
    block: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("- func: "):
            if block:
                entry = _entry(block)
                entries[entry.name] = entry
            block = [line[len("- func: ") :]]
        elif block:
            block.append(line)
    if block:
        entry = _entry(block)
        entries[entry.name] = entry

    table = {}
    for name, entry in entries.items():
        target = entries.get(entry.delegate) if entry.delegate else None
        table["aten::" + name] = Kernel(
            cuda=entry.cuda or (target is not None and target.cuda),
            mps=entry.mps or (target is not None and target.mps),
            exact_same=entry.check,
            iterator=entry.iterator or (target is not None and target.iterator),
            method=_method(entry),
        )
    return table
