"""Write ``codemods/portability/cuda_api.toml``: what functions of ``torch.cuda`` do without CUDA, and their namesakes.

    python -m benchmarks.cuda_api FOLDER       # with one wheel of each release of PyTorch

The behaviour is that of the installed PyTorch, which must be a build for the CPU.  Names and the releases that have
them come from the sources in the wheels, whose platform does not matter.  Small ones are those for macOS:

    pip download --no-deps --only-binary=:all: --python-version 310 \
        --platform macosx_11_0_arm64 --platform macosx_14_0_arm64 -d FOLDER torch==2.6.0
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

PATH = Path(__file__).resolve().parents[1] / "codemods/portability/cuda_api.toml"
Release = tuple[int, int]
Names = dict[str, dict[Release, frozenset[str]]]  # by module and release

#: Modules with namesakes of functions of ``torch.cuda``.
MODULES = ("torch.accelerator", "torch.xpu", "torch.mps", "torch.amp")
_CUDA = ("torch.cuda", "torch.cuda.amp", "torch.cuda.nvtx")
#: Namesakes with another name.
_RENAMED = {
    ("torch.accelerator", "current_device"): "current_device_index",
    ("torch.accelerator", "set_device"): "set_device_index",
    ("torch.accelerator", "mem_get_info"): "get_memory_info",
    ("torch.accelerator", "device"): "device_index",
    ("torch.accelerator", "stream"): "",  # a stream is a context manager itself
    ("torch.mps", "memory_allocated"): "current_allocated_memory",
    ("torch.mps", "memory_reserved"): "driver_allocated_memory",
}
#: Deprecated names, and those to use instead: https://docs.pytorch.org/docs/stable/cuda.html
_DEPRECATED = {
    "max_memory_cached": "max_memory_reserved",
    "memory_cached": "memory_reserved",
    "reset_max_memory_allocated": "reset_peak_memory_stats",
    "reset_max_memory_cached": "reset_peak_memory_stats",
}
_state = torch.zeros(8, dtype=torch.uint8)
#: Calls that need arguments.
_CALLS: dict[str, Callable[[], Any]] = {
    "amp.custom_bwd": lambda: torch.cuda.amp.custom_bwd(abs),
    "amp.custom_fwd": lambda: torch.cuda.amp.custom_fwd(abs),
    "can_device_access_peer": lambda: torch.cuda.can_device_access_peer(0, 1),
    "device": lambda: torch.cuda.device(0).__enter__(),
    "device_of": lambda: torch.cuda.device_of(torch.ones(1)).__enter__(),
    "ExternalStream": lambda: torch.cuda.ExternalStream(0),
    "graph": lambda: torch.cuda.graph(torch.cuda.CUDAGraph()),
    "make_graphed_callables": lambda: torch.cuda.make_graphed_callables(abs, (torch.ones(1),)),
    "manual_seed": lambda: torch.cuda.manual_seed(0),
    "manual_seed_all": lambda: torch.cuda.manual_seed_all(0),
    "nvtx.mark": lambda: torch.cuda.nvtx.mark("a"),
    "nvtx.range": lambda: torch.cuda.nvtx.range("a").__enter__(),
    "nvtx.range_push": lambda: torch.cuda.nvtx.range_push("a"),
    "set_device": lambda: torch.cuda.set_device(0),
    "set_per_process_memory_fraction": lambda: torch.cuda.set_per_process_memory_fraction(0.5),
    "set_rng_state": lambda: torch.cuda.set_rng_state(_state),
    "set_rng_state_all": lambda: torch.cuda.set_rng_state_all([]),
    "set_sync_debug_mode": lambda: torch.cuda.set_sync_debug_mode(0),
    "stream": lambda: torch.cuda.stream(None).__enter__(),
}
#: Not measured: they need objects that exist with CUDA only, extensions, or other packages; or they are internal.
_LEFT_OUT = re.compile(
    r".*(?:Tensor|Storage)$|.*(?:allocator|Allocator|MemPool|mem_pool|Context|Error|Status|error)\w*$|_.*|has_\w+"
    r"|clock_rate|cudart|device_memory_used|get_stream_from_external|gds\w*|init|is_current_stream_capturing|jiterator"
    r"|list_gpu_processes|memory_usage|power_draw|set_stream|temperature|utilization|nvtx\.range_end|nvtx\.range_start"
)


def main(folder: str) -> None:
    """Write the table from the wheels in a folder."""
    names: Names = {}
    for release, wheel in sorted(_wheels(Path(folder))):
        with zipfile.ZipFile(wheel) as archive:
            for module in (*MODULES, *_CUDA):
                names.setdefault(module, {})[release] = _public(archive, module)
    PATH.write_text("\n".join(_lines(names)) + "\n", encoding="utf-8")


def _wheels(folder: Path) -> Iterator[tuple[Release, Path]]:
    for path in folder.glob("torch-*.whl"):
        major, minor = re.findall(r"\d+", path.name)[:2]
        yield (int(major), int(minor)), path


def _public(archive: zipfile.ZipFile, module: str) -> frozenset[str]:
    """Return the public names that the source of a module binds."""
    folder = module.replace(".", "/")
    for file in (f"{folder}/__init__.py", f"{folder}.py"):
        with suppress(KeyError):
            tree = ast.parse(archive.read(file))
            return frozenset(name for name in _bound(archive, module, tree.body) if not name.startswith("_"))
    return frozenset()


def _bound(archive: zipfile.ZipFile, module: str, body: list[ast.stmt]) -> Iterator[str]:
    for stmt in body:
        match stmt:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.ImportFrom(module=source, names=aliases, level=level):
                origin = ".".join(filter(None, (module if level else "", source)))
                for alias in aliases:
                    yield from _public(archive, origin) if alias.name == "*" else (alias.asname or alias.name,)
            case ast.If() | ast.Try():
                yield from _bound(archive, module, stmt.body)
                yield from _bound(archive, module, stmt.orelse)


def _lines(names: Names) -> Iterator[str]:
    releases = sorted(names["torch.cuda"])
    yield "# Functions of torch.cuda: what they do without CUDA, and their namesakes since which release of PyTorch."
    yield "# Written by: python -m benchmarks.cuda_api"
    yield f'torch = "{torch.__version__.split("+")[0]}"'
    yield f"releases = [{', '.join(_quoted(_text(each)) for each in releases)}]"
    yield "\n[functions]"
    for module in _CUDA:
        prefix = module.removeprefix("torch.cuda").lstrip(".")
        for name in sorted(set().union(*names[module].values()) & _documented(module)):
            known = f"{prefix}.{name}".lstrip(".")
            if _LEFT_OUT.fullmatch(name) or _LEFT_OUT.fullmatch(known):
                continue
            entry = _entry(names, module, known)
            if entry:
                yield f"{_quoted(known) if '.' in known else known} = {{ {entry} }}"


def _documented(module: str) -> set[str]:
    """Return the names that the installed module declares as its API, if it declares any."""
    package: Any = sys.modules[module]
    return set(getattr(package, "__all__", dir(package))) | {"synchronize"}


def _entry(names: Names, module: str, known: str) -> str:
    name = known.rpartition(".")[2]
    without = _without(known)
    if not without:
        return ""
    parts = [f"without = {_quoted(without)}"]
    if since := _since(names[module], name, later_only=True):
        parts.append(f"since = {_quoted(_text(since))}")
    if known in _DEPRECATED:
        parts.append(f"deprecated = {_quoted(_DEPRECATED[known])}")
    wanted = ("torch.amp",) if module == "torch.cuda.amp" else MODULES[:3] if module == "torch.cuda" else ()
    for other in wanted:
        twin = _RENAMED.get((other, name), name)
        if since := _since(names[other], twin):
            key = other.removeprefix("torch.")
            parts.append(f"{key} = [{_quoted(f'{other}.{twin}')}, {_quoted(_text(since))}]")
    return ", ".join(parts)


def _without(known: str) -> str:
    """Return what a function does without CUDA; empty if it cannot be measured."""
    function: Any = torch.cuda
    for part in known.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = _CALLS.get(known, function)()
    except TypeError as error:
        if known in _CALLS or "argument" not in str(error):
            return "raises"
        return ""
    except Exception:
        return "raises"
    if result is None or (known in _CALLS and not callable(result)):
        return "nothing"
    return f"returns {result!r}" if isinstance(result, (bool, int, str, list)) else "works"


def _since(by_release: dict[Release, frozenset[str]], name: str, later_only: bool = False) -> Release | None:
    """Return the first release from which on every one has a name."""
    since = None
    for release in sorted(by_release, reverse=True):
        if name not in by_release[release]:
            break
        since = release
    return None if later_only and since == min(by_release) else since


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'


def _text(release: Release) -> str:
    return ".".join(map(str, release))


if __name__ == "__main__":
    main(*sys.argv[1:])
