"""A stand-in accelerator with real numbers on the CPU.

Every tensor stays an ordinary CPU tensor; its device is a tag on its memory (:mod:`.tags`).  A function mode answers what
Python code asks (:mod:`.function_mode`), a dispatch mode checks and tags every ATen call (:mod:`.dispatch_mode`), and
``torch.cuda``, storages, generators and optimizers are patched to agree.  Autograd stays PyTorch's own, so that
losses are those of the CPU, bit for bit, and errors are those of the accelerator, in PyTorch's words.

Needs torch >= 2.4 and nothing else; knows nothing of the rest of the project, so that it can be copied to where the
script's interpreter is.

>>> from devfix.simulator import Simulator
>>> with Simulator():
...     torch.randn(2, device="cuda") + torch.randn(2)
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""

from __future__ import annotations

from .install import Simulator, preload, unsupported_used, work

__all__ = ["Simulator", "preload", "unsupported_used", "work"]
