"""The expression that chooses a device where a program declares one."""

from __future__ import annotations

from devfix.model import PortTargets

__all__ = ["accelerator_query", "choice_without_cuda", "device_choice"]

# Type of device → expression that asks for it, and the first release that has it; None if another package brings it.
# CUDA was there from the first release on.
_AVAILABLE: dict[str, tuple[str, tuple[int, int] | None]] = {
    "cuda": ("torch.cuda.is_available()", (0, 0)),
    "mps": ("torch.backends.mps.is_available()", (1, 12)),
    "xpu": ("torch.xpu.is_available()", (2, 3)),
    "npu": ("torch.npu.is_available()", None),  # torch_npu, which PyTorch imports by itself since 2.5
}
_CUDA = '"cuda" if torch.cuda.is_available() else '
_ANY_ACCELERATOR = (2, 6)  # torch.accelerator
_ANY = ("mps", "xpu")  # for programs that are to run on these, it is shorter than a chain


def device_choice(targets: PortTargets, *, is_certain: bool = False) -> str:
    """Return the expression of a new device: its value is a string that ``torch.device`` accepts.

    With ``is_certain``, an accelerator is there, so that the CPU is not among the choices.

    CUDA is the first choice, since the program was written for it, and the CPU the last one.  If the program is to run
    on every accelerator, and PyTorch has ``torch.accelerator``, the expression is that of PyTorch's tutorials:
    https://docs.pytorch.org/tutorials/beginner/basics/buildmodel_tutorial.html
    """
    if _asks_for_any(targets):
        current = "torch.accelerator.current_accelerator().type"
        return current if is_certain else f'{current} if torch.accelerator.is_available() else "cpu"'
    devices = ["cuda", *targets.others]
    last = devices.pop() if is_certain else "cpu"
    return "".join(f'"{device}" if {_query(device, targets.release)} else ' for device in devices) + f'"{last}"'


def choice_without_cuda(choice: str) -> str:
    """Return a choice for machines without CUDA; where ``torch.accelerator`` chooses, the choice itself."""
    return choice.removeprefix(_CUDA)


def accelerator_query(targets: PortTargets) -> str:
    """Return the expression that asks whether one of the accelerators is there."""
    if _asks_for_any(targets):
        return "torch.accelerator.is_available()"
    return " or ".join(_query(device, targets.release) for device in ("cuda", *targets.others))


def _asks_for_any(targets: PortTargets) -> bool:
    return targets.release >= _ANY_ACCELERATOR and all(each in targets.others for each in _ANY)


def _query(device: str, release: tuple[int, int]) -> str:
    query, since = _AVAILABLE[device]
    if since is not None and release >= since:
        return query
    owner = query.removesuffix(f".{device}.is_available()")
    return f'hasattr({owner}, "{device}") and {query}'
