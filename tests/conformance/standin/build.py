"""Build the stand-in libraries for the CUDA build of PyTorch in one environment.

    python tests/conformance/standin/build.py SITE_PACKAGES/torch/lib OUT

For each library of the CUDA toolkit that PyTorch's libraries need, a small library of the same name with the same
versioned symbols: those of ``runtime.c`` where it has them, functions that return 0 otherwise.  Needs ``gcc`` and
``readelf``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVER = "libcuda.so.1"
PREFIXES = ("libcu", "libnccl", "libnvrtc", "libnvshmem", "libnvToolsExt", "libnvJitLink")
_UNVERSIONED = re.compile(r"^(cu[a-zA-Z]+|nccl|nvshmem|nvrtc|nvtx)[A-Z_a-z0-9]*$")


def _read(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(folder: Path) -> set[str]:
    """Sonames of toolkit libraries that the libraries of a folder ask for and that are not in it."""
    names = set()
    for library in folder.glob("lib*.so*"):
        names.update(re.findall(r"NEEDED.*\[(.*)\]", _read("readelf", "-d", str(library))))
    return {name for name in names if name.startswith(PREFIXES) and not (folder / name).exists()}


def undefined(folder: Path) -> dict[str, set[str]]:
    """Undefined symbols by version node; the empty node for symbols without a version."""
    found: dict[str, set[str]] = defaultdict(set)
    defined = set()
    for library in folder.glob("lib*.so*"):
        for line in _read("readelf", "-W", "--dyn-syms", str(library)).splitlines():
            parts = line.split()
            if len(parts) < 8 or not parts[0].endswith(":"):
                continue
            name, _, node = parts[7].partition("@")
            node = node.lstrip("@")
            if parts[6] != "UND":
                defined.add(name)
            elif node.startswith(("lib", "NVSHMEM")) or (not node and _UNVERSIONED.match(name)):
                found[node].add(name)
    found[""] -= defined
    return found


def _by_name(folder: Path) -> set[str]:
    """Functions of the driver that PyTorch looks up by name."""
    pattern = re.compile(rb"(?<=\0)cu[A-Z][A-Za-z0-9_]+(?=\0)")
    libraries = (folder / f"lib{name}.so" for name in ("c10_cuda", "torch_cuda", "caffe2_nvrtc"))
    return {name.decode() for library in libraries for name in pattern.findall(library.read_bytes())}


def _cudnn(folder: Path) -> int:
    """The cuDNN version that this PyTorch asks for, as one number."""
    for metadata in folder.parent.parent.glob("torch-*.dist-info/METADATA"):
        found = re.search(r"nvidia-cudnn-cu\d+\s*\(?==(\d+)\.(\d+)\.(\d+)", metadata.read_text(encoding="utf-8"))
        if found:
            major, minor, patch = map(int, found.groups())
            return major * 10000 + minor * 100 + patch
    return 90100


def _answer(name: str) -> str:
    return "failure" if re.search(r"_[bB]uffer_?Size", name) else "success"


def _written() -> set[str]:
    """Functions that ``runtime.c`` defines."""
    text = (HERE / "runtime.c").read_text(encoding="utf-8")
    return set(re.findall(r"^(?:int|size_t|void|void \*|const char|void \*\*)\s*\**(\w+)\(", text, re.MULTILINE))


def build(folder: Path, out: Path) -> list[str]:
    """Write the libraries to ``out``; their names."""
    out.mkdir(parents=True, exist_ok=True)
    symbols, written = undefined(folder), _written()
    sonames = needed(folder)
    major = next((re.findall(r"\d+", name)[0] for name in sonames if name.startswith("libcudart")), "13")
    for soname in sorted(sonames):
        node = "NVSHMEM" if soname.startswith("libnvshmem") else soname
        names = set(symbols.get(node, ()))
        versioned = bool(names)
        loose = set()
        if soname.startswith("libcudart"):
            loose = symbols[""] - names
        elif soname == DRIVER:
            loose = _by_name(folder)
        source = out / f"{soname}.c"
        lines = [f'#include "{HERE / "runtime.c"}"']
        lines += [
            f'int {name}() __attribute__((alias("standin_{_answer(name)}")));'
            for name in sorted((names | loose) - written)
        ]
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        script = out / f"{soname}.map"
        options = []
        if versioned:
            text = f"{node} {{ global: {'; '.join(sorted(names))}; local: *; }};\n"
            if loose:
                text = f"{node} {{ global: {'; '.join(sorted(names))}; }};\n"
            script.write_text(text, encoding="utf-8")
            options = [f"-Wl,--version-script={script}"]
        defines = [f"-DCUDART_MAJOR={major}", f"-DCUDNN_VERSION={_cudnn(folder)}"]
        options += [f"-Wl,-soname,{soname}", str(source), "-o", str(out / soname)]
        subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-O1", "-fno-builtin", *defines, *options], check=True)
    return sorted(sonames)


if __name__ == "__main__":
    print("\n".join(build(Path(sys.argv[1]), Path(sys.argv[2]))))
