"""Simulated accelerator that computes on the CPU.

Every tensor is an ordinary CPU tensor; its device is a tag on its storage (:mod:`.tags`).  A function mode handles
device queries and moves in Python code (:mod:`.function_mode`), a dispatch mode checks and tags every ATen call
(:mod:`.dispatch_mode`), and ``torch.cuda``, storages, generators and optimizers are patched consistently.  Autograd is
PyTorch's own, so losses equal the CPU's bit for bit; errors are those of the accelerator, with PyTorch's messages.

The package imports torch (>= 2.4) and the standard library only, so that it can run in the script's interpreter.

>>> from devfix.simulator import Simulator
>>> with Simulator():
...     torch.randn(2, device="cuda") + torch.randn(2)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!

**Recorded as unsupported** (:func:`unsupported_used`; the verdict is then inconclusive): ``jiterator``, child processes
that use the device or train, DLPack and ``__cuda_array_interface__`` of device memory that leaves PyTorch, process
groups of more than one process, loading of compiled TorchScript and exported programs from elsewhere and of operator
libraries, and builds of C++ extensions.

**Approximated**: compilers run eagerly; CUDA graphs replay their calls; streams and events are in program order; memory
statistics are constants; if the CPU uses another kernel than CUDA (attention, batch norm, recurrent cells), the error
is raised but its message may name another kernel.

**Neither modeled nor detected**: out-of-memory errors, errors of asynchronous kernels, rounding differences, most
operators that exist on one device type only, installed extensions that access memory by pointer, and the engine's check
of gradients that a custom ``autograd.Function`` returns on the wrong device (they fail one step later).
"""

from __future__ import annotations

from .forks import SimulatedWorker
from .higher_order import run_higher_order
from .install import Simulator, preload, run_compilers_eagerly, unsupported_used, work_done, work_ledger
from .tags import reported_device
from .work import WorkLedger

__all__ = [
    "SimulatedWorker",
    "Simulator",
    "WorkLedger",
    "preload",
    "reported_device",
    "run_compilers_eagerly",
    "run_higher_order",
    "unsupported_used",
    "work_done",
    "work_ledger",
]
