"""How many wrapper names of PyTorch's CUDA library the operator table derives.

    python tests/conformance/standin/names.py         # in an environment with a CUDA build of PyTorch

Prints the figures that the docstring of devfix/simulator/kernels/table.py quotes; exit code 1 if a name is not derived.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import torch

from devfix.simulator.kernels.table import kernels


def main() -> int:
    """Compare the names in the library with those of kernels that compare devices."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cuda.so"
    pattern = re.compile(rb"(?<=\0)wrapper_CUDA_[A-Za-z0-9_]+(?=\0)")
    there = {name.decode() for name in pattern.findall(library.read_bytes())}
    derived = {kernel.method for kernel in kernels().values() if kernel.cuda and kernel.exact_same}
    print(f"torch {torch.__version__}: {len(there)} names, {len(there & derived)} derived")
    print("not derived:", *sorted(there - derived))
    print("derived beside them:", *sorted(derived - there))
    return 1 if there - derived else 0


if __name__ == "__main__":
    sys.exit(main())
