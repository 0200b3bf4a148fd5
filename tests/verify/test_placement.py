"""Where everything lives after the first step, and what is marked as out of place."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devfix.trace.device_map.rows import DeviceMap, Row, read_map
from devfix.verify.runs import run

HEAD = """\
import copy
import torch
from torch import nn
device = "cuda"
"""


def mapped(folder: Path, text: str, device: str = "sim", kind: str = "cuda") -> DeviceMap:
    (folder / "train.py").write_text(HEAD + dedent(text))
    done = run("train.py", device=device, cwd=folder, device_map=True, kind=kind)
    found = read_map(done)
    assert found is not None, done.output
    return found


def row(found: DeviceMap, name: str) -> Row:
    (only,) = [each for each in found.rows if each.name == name]
    return only


def problems(found: DeviceMap) -> dict[str, str | None]:
    return {each.name: each.problem for each in found.misplaced}


NESTED = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.table = torch.zeros(4)
        self.scale = torch.tensor(2.0)
        self.register_buffer("seen", torch.zeros(2))
    def forward(self, x):
        return self.inner(x) * self.scale
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.ModuleList([Block(), Block()])
        self.extras = [nn.Linear(4, 4)]
        self.head = nn.Linear(4, 1)
    def forward(self, x):
        for block in self.body:
            x = block(x)
        return self.head(x)
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, i):
        return {"x": torch.randn(4), "y": torch.randn(1), "mask": torch.ones(4), "id": i, "name": "a"}
def main():
    net = Net().to(device)
    ema = copy.deepcopy(net).cpu()
    net.unused = nn.Linear(2, 2)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(net.parameters(), foreach=False)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=3)
    for batch in loader:
        x, y = batch["x"].to(device), batch["y"].to(device)
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
main()
"""


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> DeviceMap:
    return mapped(tmp_path_factory.mktemp("nested"), NESTED)


def test_a_module_is_unfolded_where_it_is_in_two_places(nested: DeviceMap) -> None:
    assert (row(nested, "net").devices, row(nested, "net").type) == (("cuda:0", "cpu"), "Net")
    assert [(each.name, each.devices) for each in nested.rows if each.section == "modules" and each.depth == 1] == [
        ("body", ("cuda:0",)),
        ("head", ("cuda:0",)),
        ("unused", ("cpu",)),
    ]
    assert not [each for each in nested.rows if each.depth > 1]


def test_what_is_out_of_place_is_marked_with_the_reason(nested: DeviceMap) -> None:
    assert problems(nested) == {
        "unused": "most of net is on cuda:0",
        "net.extras[0]": "in a list, so not moved with net, which is on cuda:0",
        "net.body[0].table": "not a registered buffer, so not moved with its module, which is on cuda:0",
        "net.body[1].table": "not a registered buffer, so not moved with its module, which is on cuda:0",
        'batch["mask"] of loader': "the model is on cuda:0",
    }


def test_what_may_be_on_the_cpu_is_not_marked(nested: DeviceMap) -> None:
    marked = problems(nested)
    for name in (
        "ema",
        "ema.extras[0]",
        "ema.body[0].table",
        "net.body[0].scale",
        'batch["id"] of loader',
        "optimizer",
    ):
        assert row(nested, name).problem is None, marked
    assert row(nested, 'batch["x"] of loader').remark == "sent to cuda:0"
    assert row(nested, "x").devices == ("cuda:0",)


def test_the_moment_and_the_memory_by_device(nested: DeviceMap) -> None:
    assert (nested.moment, nested.steps, nested.where and nested.where.line) == ("step", 1, 41)
    memory = {each.device: each for each in nested.memory}
    here = memory["cuda:0"]
    # two blocks of 4·4+4 parameters and 2 numbers in a buffer, and a head of 4+1; Adam keeps two numbers for each
    assert (here.modules, here.gradients, here.optimizers) == (4 * 49, 4 * 45, 2 * 4 * 45)
    assert memory["cpu"].optimizers == 6 * 4  # its step counters


def test_the_environment_is_what_the_script_is_told(nested: DeviceMap) -> None:
    told = nested.environment
    assert (told.kind, told.simulated, told.available, told.names) == ("cuda", True, True, ("NVIDIA A100-SXM4-40GB",))
    assert told.torch


GAN = """\
generator = nn.Linear(2, 4).to(device)
judge = nn.Linear(4, 1).to(device)
scaler = torch.amp.GradScaler(device)
first = torch.optim.SGD(judge.parameters(), lr=0.1, momentum=0.9)
second = torch.optim.Adam(generator.parameters())
weights = torch.ones(1)
criterion = nn.BCEWithLogitsLoss(pos_weight=weights)
for step in range(20):
    fake = generator(torch.randn(3, 2, device=device))
    first.zero_grad()
    scaler.scale(judge(fake.detach()).mean()).backward()
    scaler.step(first)
    second.zero_grad()
    scaler.scale(-judge(fake).mean()).backward()
    scaler.step(second)
    scaler.update()
"""


def test_every_optimizer_makes_its_first_step(tmp_path: Path) -> None:
    found = mapped(tmp_path, GAN)
    assert found.steps == 2
    assert [row(found, name).devices for name in ("first", "second", "scaler")] == [("cuda:0",)] * 3
    assert [row(found, name).remark for name in ("first", "second", "generator", "judge")] == [""] * 4
    assert problems(found) == {"criterion": "generator is on cuda:0"}


def test_state_of_an_optimizer_that_is_elsewhere_than_its_parameter(tmp_path: Path) -> None:
    text = """\
    net = nn.Linear(3, 3).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    optimizer.state[net.weight]["momentum_buffer"] = torch.zeros(3, 3)
    net(torch.ones(1, 3, device=device)).sum().backward()
    optimizer.step()
    """
    found = mapped(tmp_path, text)
    assert (found.moment, found.where and found.where.line) == ("failure", 9)
    assert problems(found) == {"state of net.weight: momentum_buffer": "its parameter is on cuda:0"}


def test_a_batch_that_was_not_moved_when_it_fails(tmp_path: Path) -> None:
    text = """\
    net = nn.Linear(4, 2).to(device)
    data = torch.utils.data.TensorDataset(torch.randn(8, 4), torch.randint(2, (8,)))
    for x, y in torch.utils.data.DataLoader(data, batch_size=4):
        loss = nn.functional.cross_entropy(net(x / 2), y)
    """
    found = mapped(tmp_path, text)
    assert (found.moment, found.steps) == ("failure", 0)
    assert problems(found)["x of DataLoader"] == "the model is on cuda:0"
    assert row(found, "y of DataLoader").problem is None  # nothing has asked for it yet


def test_training_without_an_optimizer(tmp_path: Path) -> None:
    text = """\
    w = torch.zeros(3, device=device, requires_grad=True)
    for step in range(5):
        loss = (w - 1).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad = None
    """
    found = mapped(tmp_path, text)
    assert (found.moment, found.steps) == ("step", 1)
    assert row(found, "w").devices == ("cuda:0",)


def test_a_script_without_a_step_is_looked_at_when_it_ends(tmp_path: Path) -> None:
    found = mapped(tmp_path, "net = nn.Linear(2, 2)\ny = net(torch.ones(1, 2))\n")
    assert (found.moment, found.misplaced) == ("end", ())
    assert found.notes == ("cuda is available, and nothing is on it",)


def test_a_machine_without_accelerator(tmp_path: Path) -> None:
    found = mapped(tmp_path, NESTED.replace("device", "'cpu'"), device="cpu")
    assert {place for each in found.rows for place in each.devices} == {"cpu"}
    assert (found.misplaced, found.environment.kind, found.environment.available) == ((), None, False)


def test_another_kind_of_device(tmp_path: Path) -> None:
    found = mapped(tmp_path, 'device = "mps"\n' + NESTED, kind="mps")
    assert row(found, "head").devices == ("mps:0",)
    assert (found.environment.kind, len(found.environment.names)) == ("mps", 1)


def test_many_tensors_of_one_list_are_one_row(tmp_path: Path) -> None:
    found = mapped(tmp_path, "samples = [torch.zeros(2) for _ in range(50)]\n")
    assert (row(found, "samples[…]").remark, row(found, "samples[…]").bytes) == ("50 tensors", 400)


def test_losses_are_those_of_a_run_without_map(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + GAN)
    alone = run("train.py", cwd=tmp_path, max_steps=2)
    watched = run("train.py", cwd=tmp_path, device_map=True)
    assert watched.ok
    assert watched.ended_early
    assert (watched.losses, watched.digest, watched.random) == (alone.losses, alone.digest, alone.random)
    assert len(watched.losses) == 2
