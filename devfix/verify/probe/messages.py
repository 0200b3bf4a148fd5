"""Recognition of device errors by their message."""

from __future__ import annotations

import re

__all__ = ["DEVICE_MESSAGES", "device_family"]

#: Patterns of PyTorch's device errors, of old and new versions, by family name.  The first match determines the family.
DEVICE_MESSAGES: dict[str, str] = {
    "index": r"indices should be either on \S+ or on the same device",
    "recurrent": r"tensors are not at the same device",
    "foreach": r"Tensors of the same index must be on the same device",
    "fused": r"fused=True`? requires all|capturable=True, params and state_steps",
    "group": r"No backend type associated with device type|Tensors must be CUDA and dense",
    "parallel": r"device_ids and output_device arguments only work with"
    r"|module must have its parameters and buffers on device|one of them on device"
    r"|DistributedDataParallel's input module must be on|parameters on different devices",
    "grad": r"assign a gradient (with device type|located on device)",
    "engine": r"invalid gradient at index \d+ - expected device",
    "legacy": r"Expected object of (device type|backend) |expected (it|them) to be on (GPU|CPU)",
    "legacy-type": r"[Ee]xpected (object of )?type (?P<one>torch\.[\w.]+) but (got|found) "
    r"(type )?(?P<other>torch\.[\w.]+)",
    "conv-type": r"Input type \((?P<one>[\w.:]+)\) and (weight|bias) type \((?P<other>[\w.:]+)\) should be the same",
    "numpy": r"can't convert .*device type tensor to numpy|can't convert CUDA tensor to numpy",
    "cpu-only": r"(only implemented on|must be a) CPU tensor|(to be|always be|and) on CPU\b",
    "generator": r"Expected an? '?\w+'? device type for generator but found",
    "pack": r"'lengths' argument should be a 1D CPU int64 tensor",
    "pin": r"cannot pin '?torch\.(cuda|mps|xpu)",
    "load": r"Attempting to deserialize object on (a )?\w+ device",
    "rng-state": r"RNG state must be a torch\.(cuda\.)?ByteTensor",
    "split": r"expected tensor_indices_or_sections to be on cpu",
    "value": r"expected device \S+ but got device \S+ for value tensor|too many CPU scalars to non-CPU kernel"
    r"|set the storage of a tensor on device",
    "ordinal": r"invalid device ordinal|Invalid device id",
    "absent": r"Torch not compiled with \w+ enabled|No CUDA GPUs are available|Found no NVIDIA driver"
    r"|not linked with support for \w+ devices|type torch\.cuda\.\w+ not available"
    r"|Cannot access accelerator device when none is available|Torch not linked with",
    "out": r"out tensor to (have|be on) device|device type of out parameter|expected device '\S+' but got '\S+' for",
    "same-device-type": r"same (device type|type of device)|to have \w+ DeviceType, but got",
    "same-device": r"\bsame (common )?devices?\b|expected (a CUDA )?device (\S+ )?but found \w+"
    r"|\.get_device\(\) == \w+\.get_device\(\)|Placeholder storage has not been allocated on MPS",
}

_ON_ACCELERATOR = re.compile(r"torch\.(cuda|xpu|mps|hip)\.|MPS")


def device_family(text: str) -> str | None:
    """Return the family of a device error's message; None if it is not a device error.

    A dtype mismatch (``float`` against ``half``), or one between types of the same device, is not a device error.
    """
    for family, pattern in DEVICE_MESSAGES.items():
        found = re.search(pattern, text)
        if found and not ("one" in found.groupdict() and _is_same_device(found["one"], found["other"])):
            return family
    return None


def _is_same_device(first: str, second: str) -> bool:
    """Whether two tensor types, such as ``torch.cuda.FloatTensor``, are both on an accelerator or both on the CPU."""
    return (_ON_ACCELERATOR.search(first) is None) == (_ON_ACCELERATOR.search(second) is None)
