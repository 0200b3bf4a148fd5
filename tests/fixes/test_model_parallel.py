"""Programs with modules on several accelerators."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, IMPORTS, observe

from devfix.fixes.devices.model_parallel import is_model_parallel

PARTS = 'a = nn.Linear(4, 4).to("{}")\nb = nn.Linear(4, 2).to("{}")\n'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            IMPORTS + PARTS.format("cuda:0", "cuda:1") + 'b(a(torch.ones(4).to("cuda:0")))', id="two-literals"
        ),
        pytest.param(
            f"{IMPORTS}first = torch.device('cuda:0')\nsecond = torch.device('cuda:1')\na = nn.Linear(4, 4).to(first)\n"
            "b = nn.Linear(4, 2).to(second)\nb(a(torch.ones(4).to(first)).to(second))",
            id="two-names",
        ),
    ],
)
def test_modules_on_two_accelerators_are_model_parallel(text):
    assert is_model_parallel(observe(text + "\n"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(IMPORTS + PARTS.format("cuda", "cuda"), id="one-accelerator"),
        pytest.param(IMPORTS + PARTS.format("cuda:1", "cuda:1"), id="one-index"),
        pytest.param(DEVICE + "a = nn.Linear(4, 4).to(device)\na(torch.ones(4).to(device))", id="chosen-device"),
        pytest.param(
            DEVICE + 'a = nn.Linear(4, 4).to(device)\nb = nn.Linear(4, 2).to("cuda:1")\nb(a(torch.ones(4).to(device)))',
            id="stray-index",
        ),
        pytest.param(
            f"{IMPORTS}import torch.distributed as dist\ndist.init_process_group('nccl')\n"
            + PARTS.format("cuda:0", "cuda:1"),
            id="distributed",
        ),
    ],
)
def test_other_programs_are_not_model_parallel(text):
    assert not is_model_parallel(observe(text + "\n"))
