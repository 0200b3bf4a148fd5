"""DEV603 by example: generators and what they draw for."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Status
from devfix.sources import SourceFile

CODE = "DEV603"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
DATA = "from torch.utils.data import random_split\ndata = TensorDataset(torch.ones(8, 4))\n"

REPAIRED = [
    pytest.param(
        "def rng(where, seed=1):\n    return torch.Generator().manual_seed(seed)\n\n\n"
        "torch.ones(3, device=device).uniform_(generator=rng(device))\nprint(torch.rand(3, generator=rng('cpu')))",
        "torch.Generator(device=where).manual_seed(seed)",
        id="each-caller-names-its-own",
    ),
    pytest.param(
        "g = torch.Generator()\nprint(torch.rand(3, device=device, generator=g))",
        "torch.rand(3, generator=g).to(device)",
        id="drawn-and-moved",
    ),
    pytest.param(
        "g = torch.Generator(device)\nprint(torch.randperm(4, generator=g))",
        "g = torch.Generator()",
        id="only-for-the-cpu",
    ),
    pytest.param(
        'g = torch.Generator("cpu")\nx = torch.ones(3, device=device)\nx.uniform_(generator=g)',
        "g = torch.Generator(device)",
        id="only-for-the-accelerator",
    ),
    pytest.param(
        "g = torch.Generator()\nprint(torch.multinomial(torch.ones(3, device=device), 2, generator=g))",
        "g = torch.Generator(device=device)",
        id="multinomial",
    ),
    pytest.param(
        "g = torch.Generator(device)\nx = torch.ones(3, device=device)\nx.bernoulli_(generator=g)\n"
        "print(torch.rand(3, generator=g))",
        "torch.rand(3, generator=g, device=device)",
        id="where-it-draws-for-others",
    ),
    pytest.param(
        DATA + "g = torch.Generator(device=device).manual_seed(1)\nprint(random_split(data, [6, 2], g))",
        "g = torch.Generator().manual_seed(1)",
        id="a-split",
    ),
    pytest.param(
        DATA + "for b in DataLoader(data, generator=torch.Generator(device=device)):\n    print(b)",
        "generator=torch.Generator())",
        id="the-seed-of-a-loader",
    ),
    pytest.param(
        DATA
        + "torch.set_default_device(device)\nfor b in DataLoader(data, generator=torch.Generator()):\n    print(b)",
        "generator=torch.Generator(device=device))",
        id="a-loader-under-a-default-device",
    ),
    pytest.param(
        "seeded = torch.manual_seed(3)\nfor shape in ((2, 2), (3, 3)):\n"
        "    print(torch.rand(shape, device=device, generator=seeded))",
        "torch.rand(shape, generator=seeded).to(device)",
        id="what-manual-seed-gives",
    ),
]

LEFT = [
    pytest.param("g = torch.Generator()\nprint(torch.rand(3, generator=g).to(device))", id="drawn-on-the-cpu"),
    pytest.param("g = torch.Generator(device)\nprint(torch.rand(3, generator=g, device=device))", id="both-there"),
    pytest.param(DATA + "for b in DataLoader(data, shuffle=True):\n    print(b)", id="an-ordinary-loader"),
    pytest.param(DATA + "print(random_split(data, [6, 2], generator=torch.Generator()))", id="an-ordinary-split"),
    pytest.param("from lib import g\nprint(torch.rand(3, generator=g, device=device))", id="of-unknown-origin"),
    pytest.param(
        "torch.set_default_device(device)\n" + DATA + "for b in DataLoader(data):\n    print(b)",
        id="a-loader-that-does-not-shuffle",
    ),
    pytest.param(
        DATA + "loader = DataLoader(data, shuffle=True)\nwith torch.device(device):\n    x = torch.ones(3)\n"
        "for b in loader:\n    print(b)",
        id="iterated-outside-of-the-context",
    ),
]

FOR_BOTH = (
    "g = torch.Generator(device=device)\nx = torch.rand(3, device=device, generator=g)\n"
    + DATA
    + "print(x, random_split(data, [6, 2], generator=g))"
)
SHUFFLES = "torch.set_default_device(device)\n" + DATA + "for b in DataLoader(data, shuffle=True):\n    print(b)"


def outcome_of(tmp_path, program, unsafe=False):
    text = "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n" + DEVICE + program + "\n"
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.apply([file], Settings(root=str(tmp_path), select=(CODE,), unsafe_fixes=unsafe))


@pytest.mark.parametrize(("program", "after"), REPAIRED)
def test_numbers_are_drawn_where_the_generator_is(repair, unchanged, program, after):
    fixed = repair(CODE, unchanged(DEVICE) + program + "\n")

    assert after in fixed
    assert repair(CODE, fixed) == fixed


@pytest.mark.parametrize("program", LEFT)
def test_what_agrees_stays_as_it_is(tmp_path, program):
    assert outcome_of(tmp_path, program).resolutions == ()


def test_a_generator_that_draws_for_both_devices_is_left_to_the_author(tmp_path):
    (resolution,) = outcome_of(tmp_path, FOR_BOTH).resolutions

    assert resolution.status is Status.NOT_FIXED
    assert "both devices" in resolution.reason


def test_a_loader_gets_its_first_generator_only_when_that_is_asked_for(tmp_path):
    careful, asked = outcome_of(tmp_path, SHUFFLES), outcome_of(tmp_path, SHUFFLES, unsafe=True)

    assert [r.status for r in careful.resolutions] == [Status.FIXABLE]
    assert careful.patch.files == ()
    assert b"shuffle=True, generator=torch.Generator(device=device))" in asked.patch.files[0].new
