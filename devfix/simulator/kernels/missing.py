"""Calls that fail because the CPU, which computes for the simulated device, has no kernel for them.

They may be valid on an accelerator, for example FFTs of half-precision tensors, so they count as unsupported.
``torch.testing``'s operator database contains such calls: tests/simulator/test_pytorch_cases.py.
"""

from __future__ import annotations

import re
from typing import Any

from ..state import state
from ..tags import tag_of_all

__all__ = ["note_missing_kernel"]

#: Dtypes that many kernels support on accelerators only.  Errors about others are usually the program's own.
_SMALL = r"(?:Half|BFloat16|ComplexHalf|Float8_\w+)"

_NO_CPU_KERNEL = re.compile(
    "|".join(
        (
            rf"not implemented for '{_SMALL}'",
            rf"Unsupported dtype {_SMALL}",
            rf"doesn't support tensors of type: {_SMALL}",
            r"with arguments from the 'CPU' backend",
            r"(?:not implemented|not supported|unsupported) on (?:the )?CPU",
            r"on (?:the )?CPU does not support",
        )
    )
)


def note_missing_kernel(func: Any, args: Any, kwargs: Any, error: RuntimeError) -> None:
    """Record a failed call as unsupported if its tensors are on a simulated device and only the CPU lacks a kernel.

    Args:
        func: the function or ATen overload.
        args: its positional arguments.
        kwargs: its keyword arguments; may be None.
        error: the error that it raised.

    """
    found = _NO_CPU_KERNEL.search(str(error))
    if found is None or tag_of_all(args, kwargs or {}) is None:
        return
    name = str(getattr(func, "__name__", func)).partition(".")[0].lstrip("_")
    state.note_unsupported(f"{name} ({found[0]})")
