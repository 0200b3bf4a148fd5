"""Which exceptions are device errors."""

from __future__ import annotations

import re

__all__ = ["DEVICE_MESSAGES", "device_family"]

#: Message families of device bugs, old and new, by family name.  One match is enough.
DEVICE_MESSAGES: dict[str, str] = {
    "same-device": r"[Ee]xpected all tensors to be on the same device|expected self and mask to be on the same device"
    r"|Expected inputs to be on same device|self, index and source expected to be in the same device"
    r"|should be on the same device|must be on the same device|to be on the same device|have the same device",
    "same-device-type": r"to have the same device type|same device type|all be on the same device",
    "index": r"indices should be either on (cpu|\w+) or on the same device",
    "recurrent": r"tensors are not at the same device",
    "conv-type": r"(Input|weight) type \((torch\.cuda\.\w+|torch\.\w+)\) and (weight|bias) type .* should be the same",
    "legacy": r"Expected object of (device type|backend|type) |[Ee]xpected type torch\.(cuda\.)?\w+ but got",
    "numpy": r"can't convert .*device type tensor to numpy|can't convert CUDA tensor to numpy",
    "generator": r"Expected an? '?\w+'? device type for generator but found",
    "pack": r"'lengths' argument should be a 1D CPU int64 tensor",
    "pin": r"cannot pin '?torch\.(cuda|mps|xpu)",
    "grad": r"assign a gradient (with device type|located on device)",
    "engine": r"returned an invalid gradient at index \d+ - expected device",
    "parallel": r"module must have its parameters and buffers on device|one of them on device"
    r"|parameters on different devices",
    "foreach": r"Tensors of the same index must be on the same device",
    "fused": r"(fused|capturable)=True,? (requires all|params and state_steps)",
    "load": r"Attempting to deserialize object on (a )?\w+ device",
    "rng-state": r"RNG state must be a torch\.(cuda\.)?ByteTensor",
    "split": r"expected tensor_indices_or_sections to be on cpu",
    "value": r"expected device \S+ but got device \S+ for value tensor|too many CPU scalars to non-CPU kernel",
    "ordinal": r"invalid device ordinal|Invalid device id",
    "absent": r"Torch not compiled with \w+ enabled|No CUDA GPUs are available|Found no NVIDIA driver"
    r"|not linked with support for \w+ devices|type torch\.cuda\.\w+ not available"
    r"|Cannot access accelerator device when none is available|Torch not linked with",
}


def device_family(text: str) -> str | None:
    """The family of a device error's message; None if it is no device error.

    A type clash that names no device (``float`` against ``half``) is not one.
    """
    for family, pattern in DEVICE_MESSAGES.items():
        found = re.search(pattern, text)
        if found and not (family == "conv-type" and text.count("torch.cuda.") != 1):
            return family
    return None
