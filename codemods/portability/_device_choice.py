"""The expression that chooses a device where a program declares one."""

from __future__ import annotations

from devfix.model import PortTargets

__all__ = ["accelerator_query", "device_choice"]

# Type of device → expression that asks for it, and the first release that has the expression
_AVAILABLE = {
    "cuda": ("torch.cuda.is_available()", (1, 0)),
    "mps": ("torch.backends.mps.is_available()", (1, 12)),
    "xpu": ("torch.xpu.is_available()", (2, 3)),
}
_OWNERS = {"mps": "torch.backends", "xpu": "torch"}  # of the module that older releases lack
_ANY_ACCELERATOR = (2, 6)  # torch.accelerator


def device_choice(targets: PortTargets, *, is_certain: bool = False) -> str:
    """Return the expression of a new device: its value is a string that ``torch.device`` accepts.

    With ``is_certain``, an accelerator is there, so that the CPU is not among the choices.

    CUDA is the first choice, since the program was written for it, and the CPU the last one.  If the program is to run
    on every accelerator, and PyTorch has ``torch.accelerator``, the expression is that of PyTorch's tutorials:
    https://docs.pytorch.org/tutorials/beginner/basics/buildmodel_tutorial.html
    """
    others = [each for each in PortTargets.DEVICES if each in targets.devices and each not in ("cpu", "cuda")]
    if len(others) == len(_OWNERS) and targets.release >= _ANY_ACCELERATOR:
        current = "torch.accelerator.current_accelerator().type"
        return current if is_certain else f'{current} if torch.accelerator.is_available() else "cpu"'
    choice, last = "", '"cpu"'
    if is_certain:
        last = f'"{others.pop()}"' if others else '"cuda"'
    for device in ("cuda", *others) if last != '"cuda"' else ():
        condition, since = _AVAILABLE[device]
        if targets.release < since:
            condition = f'hasattr({_OWNERS[device]}, "{device}") and {condition}'
        choice += f'"{device}" if {condition} else '
    return f"{choice}{last}"


def accelerator_query(targets: PortTargets) -> str:
    """Return the expression that asks whether one of the accelerators is there: with CUDA, as before."""
    if "torch.accelerator" in device_choice(targets):
        return "torch.accelerator.is_available()"
    queries = []
    for device in PortTargets.DEVICES:
        if device in targets.devices and device in _AVAILABLE:
            condition, since = _AVAILABLE[device]
            if targets.release < since:
                condition = f'hasattr({_OWNERS[device]}, "{device}") and {condition}'
            queries.append(condition)
    return " or ".join(queries)
