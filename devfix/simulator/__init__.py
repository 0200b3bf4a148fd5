"""A stand-in accelerator with real numbers on the CPU.

Every tensor stays an ordinary CPU tensor; its device is a tag on its memory (:mod:`.tags`).  A function mode answers
what Python code asks (:mod:`.function_mode`), a dispatch mode checks and tags every ATen call (:mod:`.dispatch_mode`),
and ``torch.cuda``, storages, generators and optimizers are patched to agree.  Autograd stays PyTorch's own, so that
losses are those of the CPU, bit for bit, and errors are those of the accelerator, in PyTorch's words.

Needs torch >= 2.4 and nothing else; knows nothing of the rest of the project, so that it can be copied to where the
script's interpreter is.

>>> from devfix.simulator import Simulator
>>> with Simulator():
...     torch.randn(2, device="cuda") + torch.randn(2)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!

**Remembered when used** (:func:`unsupported_used`; a verdict is then inconclusive): CUDA graphs
(``torch.cuda.CUDAGraph``, ``graph``, ``make_graphed_callables``), external streams, memory pools, ``jiterator``, child
processes, DLPack and ``__cuda_array_interface__`` of device memory, process groups of more than one process, compiled
TorchScript and operator libraries that are loaded, extensions in C++ that are built.

**Approximated**: autocast is the CPU's autocast with the same dtype; streams and events are in program order; memory
figures are constants; a device is an Ampere card named "Simulated device"; ``mps`` and ``xpu`` raise CUDA's messages
under their own name; where the CPU runs another kernel than CUDA would (attention, batch norm, recurrent cells), the
error is raised but the message may name another kernel.

**Not modelled and not noticed**: errors of memory and of asynchronous kernels, differences of rounding, operators that
exist on one kind of device only, extensions in other languages that come installed and read memory by pointer,
``torch.compile`` (switch it off), TorchScript (set ``PYTORCH_JIT=0``), data-loader workers (use none), the engine's
check of gradients that a custom ``autograd.Function`` returns on the wrong device (they fail one step later).
"""

from __future__ import annotations

from .install import Simulator, preload, unsupported_used, work
from .tags import reported_device

__all__ = ["Simulator", "preload", "reported_device", "unsupported_used", "work"]
