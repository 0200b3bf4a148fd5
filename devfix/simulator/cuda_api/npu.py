"""The names that ``torch_npu`` brings: ``torch.npu``, the device type ``npu``, and methods of tensors and modules.

PyTorch knows the back end as PrivateUse1 until a package gives it a name and a module:
https://docs.pytorch.org/tutorials/advanced/privateuseone.html
The functions are those that have namesakes in ``torch.cuda``:
https://hiascend.com/doc_center/source/zh/Pytorch/600/apiref/apilist/ptaoplist_000013.html
"""

from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType
from typing import Any

import torch

__all__ = ["register"]

_PACKAGE = "torch_npu"
_FUNCTIONS = frozenset(
    "can_device_access_peer current_device current_stream default_stream device device_count device_of empty_cache "
    "get_device_capability get_device_name get_device_properties get_rng_state get_rng_state_all initial_seed "
    "is_available is_initialized manual_seed manual_seed_all max_memory_allocated max_memory_reserved mem_get_info "
    "memory_allocated memory_reserved memory_stats reset_peak_memory_stats seed seed_all set_device set_rng_state "
    "set_rng_state_all set_stream stream synchronize Event Stream StreamContext _is_in_bad_fork".split()
)


def register() -> None:
    """Name the back end and add its module, once in a process; the simulator replaces the functions.

    Names cannot be taken back: the process keeps the device type.
    """
    if hasattr(torch, "npu"):
        return
    library: Any = torch
    library.utils.rename_privateuse1_backend("npu")
    module: Any = ModuleType("torch.npu")
    for name in _FUNCTIONS:
        setattr(module, name, _outside)
    module.is_available = lambda: False
    module.device_count = lambda: 0
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]
    library._register_device_module("npu", module)
    library.utils.generate_methods_for_privateuse1_backend()
    package: Any = ModuleType(_PACKAGE)
    package.npu = module
    package.__spec__ = importlib.machinery.ModuleSpec(_PACKAGE, None)
    sys.modules.setdefault(_PACKAGE, package)


def _outside(*_: Any, **__: Any) -> Any:
    raise RuntimeError("No NPU is available")
