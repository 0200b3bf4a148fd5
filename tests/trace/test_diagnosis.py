"""What is said of failures of small programs: the culprit, its birth, the rule, the package."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from devfix.trace.diagnosis.diagnose import Diagnosis, diagnose
from devfix.trace.diagnosis.non_tensor_causes import cause_without_values
from devfix.trace.failure_trace_json import read_failure_trace
from devfix.verify.runs import run

HEAD = """\
import torch
from torch import nn
device = "cuda"
x = torch.ones(2, 3, device=device)
"""


def diagnosis(folder: Path, text: str, **options: Any) -> Diagnosis:
    """What is said of a script whose first line is line 5, behind imports, ``device`` and ``x``."""
    (folder / "train.py").write_text(HEAD + dedent(text))
    done = run("train.py", cwd=folder, provenance=True, **options)
    failure = read_failure_trace(done)
    assert failure is not None, done.output
    found = diagnose(failure)
    assert found is not None, done.outcome
    return found


PROGRAMS = {
    "a part that was replaced after the move": (
        """\
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to(device)
        model[1] = nn.Linear(3, 2)
        model(x)
        """,
        ("DEV201", "model[1].weight", 6),
        "after `nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to(device)` at train.py:5",
    ),
    "a part that was made before the move and attached after it": (
        """\
        head = nn.Linear(3, 2)
        model = nn.Sequential(nn.Linear(3, 3)).to(device)
        model.append(head)
        model(x)
        """,
        ("DEV201", "head.weight", 5),
        "became a part of `Sequential` at train.py:7 after `nn.Sequential(nn.Linear(3, 3)).to(device)` at train.py:6",
    ),
    "a parameter of a criterion that is never moved, behind a computation": (
        """\
        class Loss(nn.Module):
            def __init__(self):
                super().__init__()
                self.proxies = nn.Parameter(torch.randn(4, 3))
            def forward(self, x):
                return x @ nn.functional.normalize(self.proxies).t()
        Loss()(x)
        """,
        ("DEV204", "self.proxies", 8),
        "`Loss` was never moved",
    ),
    "layers in a list": (
        """\
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = [nn.Linear(3, 3)]
            def forward(self, x):
                return self.blocks[0](x)
        Net().to(device)(x)
        """,
        ("DEV203", "self.blocks[0].weight", 8),
        "in the list `blocks` of `Net`",
    ),
    "a plain attribute": (
        """\
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.mask = torch.ones(3)
            def forward(self, x):
                return x * (self.mask == 0)
        Net().to(device)(x)
        """,
        ("DEV202", "self.mask", 8),
        "`mask` of `Net`",
    ),
    "a batch of a loader": (
        """\
        pairs = torch.utils.data.TensorDataset(torch.ones(4, 3), torch.zeros(4, dtype=torch.long))
        for image, tag in torch.utils.data.DataLoader(pairs, batch_size=2):
            nn.functional.cross_entropy(image.to(device), tag)
        """,
        ("DEV101", "tag", 6),
        "came from a data loader at train.py:6",
    ),
    "a tensor that is made without a device": (
        "table = torch.arange(3)\nx + table\n",
        ("DEV102", "table", 5),
        "created at train.py:5 by `torch.arange(3)` without a device",
    ),
    "the result of a move that nothing keeps": (
        "table = torch.arange(3)\ntable.to(device)\nx + table\n",
        ("DEV103", "table", 5),
        "`table.to(device)` at train.py:6",
    ),
    "a model that was brought to the CPU for a while": (
        """\
        model = nn.Linear(3, 2).to(device)
        model(x)
        model.cpu()
        model(x)
        """,
        ("DEV701", "model.weight", 7),
        "`model.cpu()` at train.py:7 moved `model.weight` to the CPU",
    ),
    "what was loaded to the CPU": (
        """\
        torch.save(torch.ones(3), "table.pt")
        table = torch.load("table.pt", map_location="cpu")
        x * table
        """,
        ("DEV302", "table", 6),
        "with a map_location",
    ),
    "state of an optimizer that is made in its constructor": (
        """\
        model = nn.Linear(3, 2)
        optimizer = torch.optim.Adagrad(model.parameters())
        model.to(device)
        model(x).sum().backward()
        optimizer.step()
        """,
        ("DEV401", "optimizer.state[0]['sum']", 6),
        "was created at train.py:6 by `torch.optim.Adagrad(model.parameters())`, on the CPU",
    ),
    "NumPy reads the accelerator": (
        "import numpy\ny = x * 2\nnumpy.asarray(y)\n",
        ("DEV601", "y", 6),
        "NumPy reads the CPU's memory only",
    ),
    "lengths on the accelerator": (
        """\
        lengths = torch.tensor([3, 2]).to(device)
        nn.utils.rnn.pack_padded_sequence(x.unsqueeze(2), lengths, batch_first=True)
        """,
        ("DEV602", "lengths", 5),
        "requires it on the CPU",
    ),
    "lengths that are sorted before the check": (
        """\
        mask = torch.ones(2, 3, dtype=torch.long).to(device)
        lengths = mask.sum(1)
        nn.utils.rnn.pack_padded_sequence(x.unsqueeze(2), lengths, batch_first=True, enforce_sorted=False)
        """,
        ("DEV602", "lengths", 6),
        "`lengths`, computed at train.py:6 by `mask.sum(1)`, is on cuda:0, and `pack_padded_sequence` requires it",
    ),
    "a sparse matrix": (
        "graph = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 1.0], (2, 2))\ntorch.sparse.mm(graph, x)\n",
        ("DEV102", "graph", 5),
        "was created at train.py:5 by `torch.sparse_coo_tensor(",
    ),
    "a sparse matrix that a function makes of a dense one": (
        """\
        def build(n):
            return torch.eye(n).to_sparse_csr()
        graph = build(2)
        graph @ x
        """,
        ("DEV102", "graph", 6),
        "was created at train.py:6 by `torch.eye(n)`",
    ),
    "a sparse matrix that was moved back": (
        "graph = torch.eye(2).to_sparse().to(device)\nback = graph.cpu()\ntorch.sparse.mm(back, x)\n",
        ("DEV501", "back", 6),
        "`graph.cpu()` at train.py:6 moved `back` to the CPU",
    ),
    "two values of one line": (
        "a, b = torch.zeros(3), torch.ones(3)\na = a.to(device)\na * b\n",
        ("DEV102", "b", 5),
        "`b` was created at train.py:5 by `torch.ones(3)`",
    ),
    "a chain of computations through functions": (
        """\
        def base(n):
            start = torch.arange(n).float()
            return start / n
        def grid(n):
            points = base(n) * 2 - 1
            return torch.stack([points, points])
        table = grid(3)
        x + table
        """,
        ("DEV102", "table", 6),
        "`table` was created at train.py:6 by `torch.arange(n)`",
    ),
    "a value from before the default device": (
        "table = torch.zeros(3)\ntorch.set_default_device(device)\nx + table\n",
        ("DEV102", "table", 5),
        "without a device, before `torch.set_default_device(device)` at train.py:6, so on the CPU",
    ),
    "a function that ignores the default device": (
        "import numpy\ntorch.set_default_device(device)\ntable = torch.from_numpy(numpy.ones(3))\nx + table\n",
        ("DEV102", "table", 7),
        "without a device, and it ignores `torch.set_default_device(device)` at train.py:6, so on the CPU",
    ),
    "one value strayed to the accelerator from a program that lives on the CPU": (
        """\
        model = nn.Linear(3, 3)
        shift = torch.zeros(3).cuda()
        data = torch.ones(2, 3)
        model(data) + shift
        """,
        ("DEV501", "shift", 6),
        "moved `shift` to cuda:0",
    ),
    "a device that a configuration names": (
        "place = {'where': 'cpu'}['where']\ntable = torch.zeros(3, device=place)\nx + table\n",
        ("DEV000", "table", 6),
        "where `place` is the CPU",
    ),
    "a transfer to the CPU in the middle of a computation": (
        "mean = x.mean(0).cpu()\ncentred = mean * 2\nx - centred\n",
        ("DEV501", "centred", 5),
        "`x.mean(0).cpu()` at train.py:5 moved `centred` to the CPU",
    ),
}


@pytest.mark.positions
@pytest.mark.sample(12)
@pytest.mark.parametrize(("text", "facts", "phrase"), PROGRAMS.values(), ids=PROGRAMS)
def test_the_cause(tmp_path: Path, text: str, facts: tuple[str, str, int], phrase: str) -> None:
    found = diagnosis(tmp_path, text)
    assert found.origin is not None
    assert found.origin.position is not None
    assert (found.rule, found.name, found.origin.position.line) == facts
    assert phrase in found.cause.sentence
    assert found.package is None


GENERATORS = {
    "created by the program": (
        "source = torch.Generator()\ntorch.randn(4, generator=source, device=device)\n",
        "`source`, created at train.py:5 by `torch.Generator()`, is on the CPU, and the samples are on cuda.",
    ),
    "of an object": (
        """\
        class Noise:
            def __init__(self, seed):
                self.source = torch.Generator().manual_seed(seed)
            def draw(self, x):
                return torch.randn(x.shape, generator=self.source, device=x.device)
        Noise(3).draw(x)
        """,
        "`self.source`, created at train.py:7 by `torch.Generator()`, is on the CPU",
    ),
    "of a loader, under a default device": (
        """\
        torch.set_default_device(device)
        for batch in torch.utils.data.DataLoader([1.0, 2.0], shuffle=True):
            pass
        """,
        "and the samples are on cuda, the default device since `torch.set_default_device(device)` at train.py:5.",
    ),
}


@pytest.mark.positions
@pytest.mark.parametrize(("text", "phrase"), GENERATORS.values(), ids=GENERATORS)
def test_a_generator_is_named_with_its_origin(tmp_path: Path, text: str, phrase: str) -> None:
    (tmp_path / "train.py").write_text(HEAD + dedent(text))
    failure = read_failure_trace(run("train.py", cwd=tmp_path, provenance=True))
    assert failure is not None
    assert phrase in cause_without_values(failure).sentence


@pytest.mark.positions
def test_a_package_that_makes_its_own_tensor_is_named(tmp_path: Path) -> None:
    package = tmp_path / "installed" / "site-packages" / "positions"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import torch\ndef table(n):\n    return torch.arange(n)\n")
    facts = package.parent / "positions-1.4.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: positions\nVersion: 1.4.2\n")
    (facts / "top_level.txt").write_text("positions\n")
    folder = tmp_path / "project"
    folder.mkdir()
    script = "from positions import table\nx + table(3)\n"
    found = diagnosis(folder, script, env={"PYTHONPATH": str(package.parent)})
    assert (found.rule, str(found.package)) == ("DEV000", "positions 1.4.2")
    assert "positions/__init__.py:3" in found.cause.sentence
    assert "`table(3)` at train.py:6" in found.cause.sentence
    assert "pin or upgrade" in found.cause.sentence


def test_an_error_that_is_no_device_error_has_no_diagnosis(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\ntorch.ones(2) + torch.ones(3)\n")
    failure = read_failure_trace(run("train.py", cwd=tmp_path, provenance=True))
    assert failure is not None
    assert diagnose(failure) is None


def test_a_batch_of_a_worker_process(tmp_path: Path) -> None:
    found = diagnosis(
        tmp_path,
        """\
        pairs = torch.utils.data.TensorDataset(torch.ones(4, 3))
        for (image,) in torch.utils.data.DataLoader(pairs, batch_size=2, num_workers=1):
            x + image
        """,
    )
    assert found.origin is not None
    assert (found.rule, found.name, str(found.origin.position)) == ("DEV101", "image", "train.py:6")


@pytest.mark.positions
def test_an_array_of_numpy(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, "import numpy\ntable = torch.from_numpy(numpy.ones((2, 3)))\nx + table\n")
    assert found.origin is not None
    assert (found.rule, found.name, str(found.origin.position)) == ("DEV102", "table", "train.py:6")
    assert "`torch.from_numpy(numpy.ones((2, 3)))`" in found.cause.sentence


def test_what_is_computed_on_one_accelerator_comes_to_the_module_on_the_other(tmp_path: Path) -> None:
    found = diagnosis(
        tmp_path,
        """\
        first, second = nn.Linear(3, 3).to("cuda:0"), nn.Linear(3, 3).to("cuda:1")
        hidden = first(x)
        second(hidden)
        """,
        devices=2,
    )
    assert found.origin is not None
    assert (found.rule, found.name, str(found.origin.position)) == ("DEV502", "hidden", "train.py:6")


def test_numbers_that_numpy_reads_come_out_where_they_were_computed(tmp_path: Path) -> None:
    found = diagnosis(
        tmp_path,
        """\
        import numpy
        model = nn.Linear(3, 1).to(device)
        losses = [model(x).mean().detach()]
        numpy.mean(losses)
        """,
    )
    assert found.origin is not None
    assert (found.rule, found.name, str(found.origin.position)) == ("DEV601", "losses[0]", "train.py:7")
