from __future__ import annotations

import ast

import pytest

torch = pytest.importorskip("torch")

from codemods.portability._device_choice import device_choice  # noqa: E402
from devfix.model import PortTargets  # noqa: E402

_CUDA = '"cuda" if torch.cuda.is_available() else '
_MPS = '"mps" if torch.backends.mps.is_available() else '


@pytest.mark.parametrize(
    ("devices", "release", "expected"),
    [
        (("cpu", "cuda"), None, '"cuda" if torch.cuda.is_available() else "cpu"'),
        (("cpu", "cuda"), (2, 13), '"cuda" if torch.cuda.is_available() else "cpu"'),
        (("cpu", "cuda"), (0, 4), '"cuda" if torch.cuda.is_available() else "cpu"'),
        (
            ("cpu", "cuda", "mps"),
            None,
            _CUDA + _MPS + '"cpu"',
        ),
        (
            ("cpu", "cuda", "xpu"),
            (2, 2),
            _CUDA + '"xpu" if hasattr(torch, "xpu") and torch.xpu.is_available() else "cpu"',
        ),
        (
            ("cpu", "cuda", "npu"),
            (2, 6),
            _CUDA + '"npu" if hasattr(torch, "npu") and torch.npu.is_available() else "cpu"',
        ),
        (
            ("cpu", "cuda", "mps", "xpu"),
            (2, 5),
            _CUDA + _MPS + '"xpu" if torch.xpu.is_available() else "cpu"',
        ),
        (
            ("cpu", "cuda", "mps", "xpu"),
            (2, 6),
            'torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"',
        ),
    ],
    ids=["default", "a newer release", "an old release", "mps", "no xpu yet", "npu", "a chain", "any accelerator"],
)
def test_the_choice_follows_the_devices_and_the_release(
    devices: tuple[str, ...], release: tuple[int, int] | None, expected: str
) -> None:
    assert device_choice(PortTargets(devices, release)) == expected


@pytest.mark.parametrize("release", [(1, 7), (2, 4), (2, 13)], ids=str)
@pytest.mark.parametrize("devices", [("cpu", "cuda"), PortTargets.DEVICES], ids=["two", "all"])
def test_every_choice_is_a_device_of_this_machine(devices: tuple[str, ...], release: tuple[int, int]) -> None:
    choice = device_choice(PortTargets(devices, release))

    assert isinstance(ast.parse(choice, mode="eval").body, ast.IfExp)
    chosen = eval(choice, {"torch": torch})
    assert torch.ones(1, device=torch.device(chosen)).device.type == chosen
