"""DEV501 by example: what contradicts the program's own choice, what it then says, and what is left alone."""

from __future__ import annotations

import pytest

from devfix import engine
from devfix.config import Settings
from devfix.model import Status
from devfix.sources import SourceFile

CODE = "DEV501"

REWRITES = [
    pytest.param(
        """
          def put(values, place):
              return [value.to(place, non_blocking=True) for value in values]

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - images, labels = put([torch.ones(3, 4), torch.ones(3, 2)], place="cpu")
        + images, labels = put([torch.ones(3, 4), torch.ones(3, 2)], place=device)
          (model(images) - labels).sum().backward()
        """,
        id="what-a-mover-of-the-program-is-given",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          actor = nn.Linear(4, 2).to(device)
        - critic = nn.Linear(2, 1).to("cuda:1")
        + critic = nn.Linear(2, 1).to(device)
          critic(actor(torch.ones(3, 4).to(device))).sum().backward()
        """,
        id="a-module-between-others",
    ),
    pytest.param(
        """
          class Scale(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.weight = nn.Parameter(torch.ones(2, 4))

              def forward(self, x):
                  return x @ nn.functional.normalize(self.weight).t()

          device = "cuda" if torch.cuda.is_available() else "cpu"
          body = nn.Linear(3, 4).to(device)
        - head = Scale().to("cuda:2")
        + head = Scale().to(device)
          head(body(torch.ones(5, 3, device=device))).sum().backward()
        """,
        id="what-comes-out-of-weights",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          critic = nn.Linear(4, 1).to(device)
          for step in range(3):
        -     batch = torch.ones(3, 4).to("cuda:1", non_blocking=True)
        +     batch = torch.ones(3, 4).to(device, non_blocking=True)
              critic(batch).sum().backward()
        """,
        id="an-index-beside-the-choice",
    ),
    pytest.param(
        """
          class Runner:
              def __init__(self, net):
                  self.device = "cuda" if torch.cuda.is_available() else "cpu"
        -         self.net = net.to(torch.device("cuda:2"))
        +         self.net = net.to(self.device)

              def run(self, x):
                  return self.net(x.to(self.device))

          Runner(nn.Linear(4, 2)).run(torch.ones(3, 4))
        """,
        id="a-model-on-an-index-of-its-own",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          net = nn.Linear(4, 2).to(device)

          def error(x, y):
        -     x = x.to("cuda:3")
        -     y = y.to("cuda:3")
        +     x = x.to(device)
        +     y = y.to(device)
              return (net(x) - y).square().mean()

          error(torch.ones(3, 4), torch.ones(3, 2)).backward()
        """,
        id="a-pair-goes-together",
    ),
    pytest.param(
        """
          net = nn.Linear(4, 2).cuda()
        - net = nn.DataParallel(net, device_ids=[1])
        + net = nn.DataParallel(net, device_ids=[0])
          net(torch.ones(3, 4).cuda())
        """,
        id="wrapped-for-another-accelerator",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          net = nn.Linear(4, 2).to(device)
          x = torch.ones(3, 4).to(device)
        - x = x + torch.rand(3, 4, device="cpu")
        + x = x + torch.rand(3, 4, device="cpu").to(device)
          net(x)
        """,
        id="random-numbers-stay-those-of-the-cpu",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          x = torch.ones(3, 4, device=device)
        - loss = model(x + torch.zeros(4).type(torch.FloatTensor)).sum()
        + loss = model(x + torch.zeros(4).type(torch.FloatTensor).to(device)).sum()
        """,
        id="a-type-of-the-cpu-is-no-device",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - loss = model(torch.ones(3, 4).cuda(non_blocking=True)).sum()
        + loss = model(torch.ones(3, 4).to(device, non_blocking=True)).sum()
        """,
        id="arguments-of-cuda-stay",
    ),
    pytest.param(
        """
          class Net(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.fc = nn.Linear(4, 2)

              def forward(self, x):
        -         return self.fc(x) + torch.zeros(2).cuda()
        +         return self.fc(x) + torch.zeros(2).to(x.device)

          device = "cuda" if torch.cuda.is_available() else "cpu"
          model = Net().to(device)
          model(torch.ones(3, 4).to(device))
        """,
        id="the-operand-names-it",
    ),
    pytest.param(
        """
          device = torch.device("cuda:1")
          model = nn.Linear(4, 2).to(device)
        - model(torch.ones(3, 4).cuda())
        + model(torch.ones(3, 4).to(device))
        """,
        id="another-index",
    ),
    pytest.param(
        """
          def noise(n, device="cuda"):
              return torch.ones(n, 4, device=device)

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - model(noise(3))
        + model(noise(3, device=device))
        """,
        id="default-of-a-function",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - model = nn.Linear(4, 2).to("cpu")
        + model = nn.Linear(4, 2).to(device)
          model(torch.ones(3, 4).to(device))
        """,
        id="module-on-the-cpu",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).to("cpu")
        + model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).to(device)
          model[1] = nn.Linear(4, 3).to(model[0].weight.device)
          model(torch.ones(3, 4).to(device))
        """,
        id="what-follows-another-is-not-the-cause",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - noise = torch.zeros(3, 4, device="cpu")
        + noise = torch.zeros(3, 4, device=device)
          model(noise)
        """,
        id="made-on-the-cpu",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - x = torch.ones(3, 4).type(torch.cuda.FloatTensor)
        + x = torch.ones(3, 4).to(device, torch.float)
          model(x)
        """,
        id="tensor-type",
    ),
]

UNCHANGED = [
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        encoder = nn.Linear(4, 8).to(device)
        decoder = nn.Linear(8, 2).to("cuda:1")
        hidden = encoder(torch.ones(3, 4).to(device)).to(decoder.weight.device)
        (decoder(hidden) - torch.zeros(3, 2).to(hidden.device)).sum().backward()
        """,
        id="handed-over-to-where-the-other-is",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        student = nn.Linear(4, 2).to(device)
        teacher = nn.Linear(4, 2).to("cuda:1")
        x = torch.ones(3, 4).to(device)
        soft = teacher(x.to("cuda:1"))
        (student(x) - soft).sum().backward()
        """,
        id="two-accelerators-where-something-is-handed-over",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        student = nn.Linear(4, 2).to(device)
        teacher = nn.Linear(4, 2).to("cuda:1")
        x = torch.ones(3, 4).to(device)
        (student(x) - teacher(x.to("cuda:1")).to(device)).sum().backward()
        """,
        id="a-second-accelerator-for-the-teacher",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        lower, upper = nn.Linear(4, 4).to("cuda:0"), nn.Linear(4, 2).to("cuda:1")
        out = upper(lower(torch.ones(3, 4).to("cuda:0")).to("cuda:1"))
        (out - torch.ones(3, 2).to(device)).sum().backward()
        """,
        id="two-halves-of-a-model",
    ),
    pytest.param(
        """
        net = nn.Linear(4, 2).to("cuda:1")
        net = nn.DataParallel(net, device_ids=[1])
        net(torch.ones(3, 4).to("cuda:1"))
        """,
        id="wrapped-where-it-is",
    ),
    pytest.param(
        """
        torch.cuda.set_device(1)
        net = nn.DataParallel(nn.Linear(4, 2).cuda(), device_ids=[1])
        net(torch.ones(3, 4).cuda())
        """,
        id="wrapped-for-the-current-one",
    ),
    pytest.param("model = nn.Linear(4, 2).cuda()\nmodel(torch.ones(3, 4).cuda())", id="always-cuda"),
    pytest.param(
        """
        if torch.cuda.is_available():
            torch.cuda.manual_seed_all(0)
        model = nn.Linear(4, 2).cuda()
        model(torch.ones(3, 4).to("cuda"))
        """,
        id="asks-for-a-seed-only",
    ),
    pytest.param(
        """
        assert torch.cuda.is_available(), "needs a GPU"
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        model(torch.ones(3, 4).cuda())
        """,
        id="says-that-it-needs-one",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        x = torch.ones(3, 4)
        try:
            x = x.cuda()
        except (RuntimeError, AssertionError):
            pass
        """,
        id="tries",
    ),
    pytest.param(
        """
        torch.cuda.set_device(1)
        model = nn.Linear(4, 2).to("cuda:1")
        model(torch.ones(3, 4).cuda())
        """,
        id="says-which-one-cuda-is",
    ),
    pytest.param(
        """
        front = nn.Linear(4, 4).to("cuda:0")
        back = nn.Linear(4, 2).to("cuda:1")
        back(front(torch.ones(3, 4).to("cuda:0")).to("cuda:1"))
        """,
        id="model-parallel",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        outputs = model(torch.ones(3, 4).to(device)).cpu()
        print((outputs - torch.zeros(3, 2)).sum())
        """,
        id="results-on-the-cpu",
    ),
    pytest.param(
        """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cuda")
        args = parser.parse_args()
        device = torch.device(args.device)
        model = nn.Linear(4, 2).to(device)
        x = torch.ones(3, 4)
        if "cuda" in args.device:
            x = x.cuda()
        model(x)
        """,
        id="asks-the-option",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_program_says_its_own_device(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNCHANGED)
def test_what_is_chosen_stays(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_a_device_that_another_file_declares_gives_way(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "train.py": """
                  import torch
                  from torch import nn
                  from settings import DEVICE

                  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                  model = nn.Linear(4, 2).to(device)
                - print(model(torch.ones(3, 4).to(DEVICE)))
                + print(model(torch.ones(3, 4).to(device)))
                """,
            "settings.py": 'DEVICE = "cpu"',
        }
    )

    assert repair(CODE, before) == after


def test_which_of_several_accelerators_are_meant_is_reported(tmp_path):
    program = """\
import torch
from torch import nn

net = nn.DataParallel(nn.Linear(4, 2).cuda(), device_ids=[1, 2])
net(torch.ones(3, 4).cuda())
"""
    path = tmp_path / "train.py"
    path.write_text(program)
    outcome = engine.apply([SourceFile(str(path), program.encode(), program)], Settings(select=(CODE,)))

    assert [(r.finding.message, r.status) for r in outcome.resolutions] == [
        ("`device_ids=[1, 2]` names another accelerator than the one that the module is on", Status.NOT_FIXED)
    ]
    assert outcome.patch.files == ()
