"""The tables of functions of ``torch.cuda`` (``cuda_api.toml``), and of what has no equivalent."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "CUDA_OBJECTS",
    "EXTENSION_LOADERS",
    "CudaFunction",
    "Namesake",
    "cuda_function",
    "cuda_functions",
    "is_feature",
    "without_equivalent",
]

#: The functions that compile an extension.
EXTENSION_LOADERS = ("torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline")
_STREAM = "streams exist with CUDA only: other devices must run this code without them"
#: The functions and classes for what other devices do not have, with the reason why their calls stay, if one is told.
CUDA_OBJECTS = {
    "torch.cuda.Stream": _STREAM,
    "torch.cuda.Event": "events exist with CUDA only: other devices can measure time with time.perf_counter()",
    "torch.cuda.ExternalStream": _STREAM,
    "torch.cuda.current_stream": _STREAM,
    "torch.cuda.default_stream": _STREAM,
    "torch.cuda.device": "it selects a CUDA device: other devices must run this code without it",
    **dict.fromkeys(
        (
            "torch.cuda.stream",
            "torch.cuda.graph",
            "torch.cuda.CUDAGraph",
            "torch.cuda.get_device_properties",
            "torch.cuda.get_device_capability",
            "torch.cuda.mem_get_info",
        ),
        "",
    ),
}
_TABLE = Path(__file__).with_name("cuda_api.toml")
_FEATURES = Path(__file__).with_name("cuda_only_packages.toml")
_PREFIX = "torch.cuda."
_OTHERS = ("accelerator", "xpu", "mps", "amp")


@dataclass(frozen=True)
class Namesake:
    """A function with the same meaning in another module, and the first release of PyTorch that has it."""

    name: str
    since: tuple[int, int]


@dataclass(frozen=True)
class CudaFunction:
    """A function or class of ``torch.cuda``.

    Attributes:
        name: its full name.
        without: the result of a call on a machine without CUDA: ``raises``, ``nothing``, ``works``, or ``returns 0``.
        deprecated: the full name of the function that replaces it; empty if it is not deprecated.
        namesakes: by ``accelerator``, ``xpu``, ``mps`` and ``amp``, which are modules of torch.

    """

    name: str
    without: str
    deprecated: str
    namesakes: dict[str, Namesake]

    @property
    def requires_cuda(self) -> bool:
        """Whether a call fails on a machine without CUDA."""
        return self.without == "raises"

    def namesake(self, module: str, release: tuple[int, int]) -> str | None:
        """Return the full name of the namesake in a module; ``None`` if a release of PyTorch does not have it."""
        found = self.namesakes.get(module)
        return None if found is None or release < found.since else found.name


@lru_cache(maxsize=1)
def cuda_functions() -> dict[str, CudaFunction]:
    """Return the functions of the table by full name."""
    rows = tomllib.loads(_TABLE.read_text(encoding="utf-8"))["functions"]
    found = {}
    for name, row in rows.items():
        namesakes = {key: Namesake(row[key][0], _release(row[key][1])) for key in _OTHERS if key in row}
        deprecated = _PREFIX + row["deprecated"] if "deprecated" in row else ""
        found[_PREFIX + name] = CudaFunction(_PREFIX + name, row["without"], deprecated, namesakes)
    return found


def cuda_function(name: str) -> CudaFunction | None:
    """Return the function with a full name; ``None`` if the table does not have it."""
    return cuda_functions().get(name)


def _release(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


@lru_cache(maxsize=1)
def without_equivalent() -> tuple[dict[str, str], dict[str, str]]:
    """Return the packages, and the names of PyTorch, that other devices have no equivalent of, with the reasons."""
    rows = tomllib.loads(_FEATURES.read_text(encoding="utf-8"))
    return rows["packages"], rows["names"]


def is_feature(name: str) -> bool:
    """Return whether a name of PyTorch belongs to a feature of CUDA without an equivalent, such as graphs."""
    return name in without_equivalent()[1]
