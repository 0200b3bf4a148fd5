"""Programs of a run: what an edit can reach is scanned again, and nothing else."""

from __future__ import annotations

import pytest
from engine_programs import IMPORTS, settings, texts

from devfix.engine.fixpoint import apply
from devfix.engine.parallel_scan import Workers
from devfix.model import Status

SHARED = "import torch\n\n\ndef noise(x):\n    return x + torch.zeros(3)\n"
CUDA = IMPORTS + "from shared import noise\n\nprint(noise(torch.ones(3).cuda()))\n"
OTHER = IMPORTS + "from shared import noise\n\nprint(%s)\n"


@pytest.fixture
def rescans(monkeypatch):
    """The files of the scans that are repeated."""
    found, original = [], Workers.scan_again

    def scan_again(workers, scans):
        found.extend(scan.path for scan in scans)
        return original(workers, scans)

    monkeypatch.setattr(Workers, "scan_again", scan_again)
    return found


def test_programs_that_read_an_edited_file_are_scanned_again(write, rescans):
    files = write(shared=SHARED, train=CUDA, other=OTHER % "noise(torch.ones(3))", alone=IMPORTS + "print(1)\n")
    new = texts(apply(files, settings()))

    assert ".to(x.device)" in new["shared.py"] or "device=x.device" in new["shared.py"]
    assert "other.py" in rescans
    assert "alone.py" not in rescans


def test_programs_that_share_edited_files_are_repaired_together_with_one_scan_of_each(write, rescans):
    """Each program has a cause of its own besides the shared one."""
    own = "\nx = torch.ones(3).cuda()\nprint(x + torch.zeros(%d, 3))\n"
    files = write(shared=SHARED, **{f"train{number}": CUDA + own % number for number in range(4)})
    outcome = apply(files, settings())

    assert [item.status for item in outcome.resolutions] == [Status.FIXED] * 5
    assert all(rescans.count(f"train{number}.py") <= 2 for number in range(4)), rescans  # as program and as library


def test_several_processes_repair_what_one_repairs(write):
    own = "\nx = torch.ones(3).cuda()\nprint(x + torch.zeros(%d, 3))\n"
    files = write(shared=SHARED, **{f"train{number}": CUDA + own % number for number in range(8)})

    assert apply(files, settings(), jobs=2) == apply(files, settings())


def test_what_one_program_objects_to_is_left_out_of_the_joint_repair(write, rescans):
    """The function that another program reads with NumPy stays; the causes in the programs themselves are repaired."""
    shared = "import torch\n\n\ndef noise(x):\n    return torch.zeros(x.shape)\n"
    own = "\nx = torch.ones(3).cuda()\nprint(x + torch.zeros(1, 3))\n"
    use = IMPORTS + "from shared import noise\n\nx = torch.ones(3).cuda()\nprint(x + noise(x))\n" + own
    other = OTHER % "noise(torch.ones(3).cuda()).numpy()"
    new = texts(apply(write(shared=shared, one=use, two=use, other=other), settings()))

    assert "shared.py" not in new
    assert "torch.zeros(1, 3, device=x.device)" in new["one.py"]
    assert "torch.zeros(1, 3, device=x.device)" in new["two.py"]


def test_an_edit_that_breaks_another_program_is_dropped(write):
    """One program adds the result of a function to an accelerator tensor, the other one reads it with NumPy."""
    shared = "import torch\n\n\ndef noise(x):\n    return torch.zeros(x.shape)\n"
    train = IMPORTS + "from shared import noise\n\nx = torch.ones(3).cuda()\nprint(x + noise(x))\n"
    other = OTHER % "noise(torch.ones(3).cuda()).numpy()"

    alone = texts(apply(write(shared=shared, train=train), settings()))
    both = texts(apply(write(shared=shared, train=train, other=other), settings()))

    assert alone["shared.py"] == shared.replace("x.shape)", "x.shape, device=x.device)")
    assert "shared.py" not in both


def test_independent_findings_cost_one_scan(write, rescans):
    loads = "".join(f"x{n} = torch.ones(3).cuda()\nprint(x{n} + torch.zeros({n}, 3))\n\n" for n in range(1, 6))
    outcome = apply(write(train=IMPORTS + loads), settings())

    assert [item.status for item in outcome.resolutions] == [Status.FIXED] * 5
    assert len(rescans) <= 2


BUFFER = """\
import numpy as np


class Buffer:
    def __init__(self):
        self.items = []

    def push(self, action):
        self.items.append(action)

    def sample(self):
        return [np.array(action, copy=False) for action in self.items]
"""


def test_what_is_a_number_in_another_program_gets_no_method_of_a_tensor(write):
    """One program stores an action of its network, the other one a random number."""
    setup = IMPORTS + "import random\nfrom buffer import Buffer\n\nbuffer = Buffer()\n"
    network = setup + "buffer.push(nn.Linear(3, 4).cuda()(torch.ones(3).cuda()).max(0)[1])\nprint(buffer.sample())\n"
    chance = setup + "buffer.push(random.randrange(4))\nprint(buffer.sample())\n"

    alone = texts(apply(write(buffer=BUFFER, network=network), settings()))
    both = texts(apply(write(buffer=BUFFER, network=network, chance=chance), settings()))

    assert "np.array(action.cpu(), copy=False)" in alone["buffer.py"]
    assert "buffer.py" not in both
