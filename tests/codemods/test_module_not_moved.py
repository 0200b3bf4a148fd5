"""DEV204 by example: where a whole object is moved, in whose words, and what is left alone."""

from __future__ import annotations

import pytest

from devfix import engine
from devfix.config import Settings
from devfix.model import Severity, Status
from devfix.sources import SourceFile

CODE = "DEV204"

#: A class whose encoder and head are moved by ``place``.
SESSION = """
        class Session:
            def __init__(self, device):
                self.device = device
                self.encoder = nn.Linear(4, 4)
                self.head = nn.Linear(4, 1)
                self.name, self.rate, self.steps, self.seen, self.kept, self.rest = "run", 0.1, 3, 0, 1, None
                self.place(device)

            def place(self, device):
                {}

            def step(self, x):
                self.head(self.encoder(x.to(self.device))).sum().backward()

        session = Session(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
        session.step(torch.randn(4, 4))
"""


def session(*lines):
    return SESSION.format(("\n" + 16 * " ").join(lines))


#: Ways in which an object moves its own modules without a name for any of them.
OWN_MOVERS = [
    pytest.param(
        session(
            "for name in sorted(vars(self)):",
            '    if hasattr(getattr(self, name), "parameters"):',
            "        getattr(self, name).to(device)",
        ),
        id="by-name-if-it-has-parameters",
    ),
    pytest.param(
        session(
            "for name in dir(self):",
            "    value = getattr(self, name)",
            "    if isinstance(value, nn.Module):",
            "        setattr(self, name, value.to(device))",
        ),
        id="by-name-from-dir",
    ),
    pytest.param(
        session(
            "for value in vars(self).values():", "    if isinstance(value, nn.Module):", "        value.to(device)"
        ),
        id="each-value-that-is-a-module",
    ),
    pytest.param(
        session(
            "for name in list(self.__dict__):",
            "    if isinstance(self.__dict__[name], nn.Module):",
            "        self.__dict__[name].to(device)",
        ),
        id="through-its-dictionary",
    ),
    pytest.param(
        session("for name in self.parts():", "    getattr(self, name).to(device)").replace(
            "def step",
            'def parts(self):\n                return open("parts.txt").read().split()\n\n            def step',
        ),
        id="names-out-of-a-file",
    ),
]

REWRITES = [
    pytest.param(
        """
          class Pair:
              def __init__(self):
                  self.encoder = nn.Linear(6, 2)
                  self.decoder = nn.Linear(2, 6)

              def to_gpu(self):
                  self.encoder.cuda()
        +         self.decoder.cuda()

          has_gpu = torch.cuda.is_available()
          model = Pair()
          if has_gpu:
              model.to_gpu()
          x = torch.randn(7, 6)
          x = x.cuda() if has_gpu else x
          (model.decoder(model.encoder(x)) - x).pow(2).mean().backward()
        """,
        id="beside-its-sibling-in-the-method-that-moves",
    ),
    pytest.param(
        """
          class Learner:
              def __init__(self, net, where="cuda"):
                  self.where = torch.device(where if torch.cuda.is_available() else "cpu")
        -         self.net = net
        +         self.net = net.to(self.where)

              def fit(self, x):
                  return self.net(x.to(self.where))

          where = "cuda"
          Learner(nn.Linear(4, 2), where).fit(torch.ones(3, 4))
        """,
        id="not-a-device-that-is-taken-only-if-it-is-there",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - model = nn.Linear(4, 2)
        + model = nn.Linear(4, 2).to(device)
          optimizer = torch.optim.Adagrad(model.parameters())
          for x in torch.randn(3, 2, 4):
              x = x.to(device)
              model(x).sum().backward()
              optimizer.step()
        """,
        id="only-the-inputs-are-moved",
    ),
    pytest.param(
        """
          model = nn.Linear(4, 2)
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        + model.to(device)
          optimizer = torch.optim.Adagrad(model.parameters())
          model(torch.randn(2, 4).to(device)).sum().backward()
          optimizer.step()
        """,
        id="device-named-later",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          student = nn.Linear(4, 2)
          teacher = nn.Linear(4, 2)
          teacher.eval()
          student = student.to(device)
        + teacher = teacher.to(device)
          optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
          x = torch.randn(2, 4, device=device)
          (student(x) - teacher(x)).sum().backward()
        """,
        id="beside-its-sibling",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          net_d = nn.Linear(2, 1)
          net_g = nn.Linear(4, 2)
        + net_d.to(device)
          net_g.to(device)
          net_d(net_g(torch.randn(2, 4, device=device))).sum().backward()
        """,
        id="ahead-of-its-sibling",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          student = nn.Linear(4, 2).to(device)
        - teacher = nn.Linear(4, 2)
        + teacher = nn.Linear(4, 2).to(device)
          teacher.load_state_dict(student.state_dict())
          x = torch.randn(2, 4, device=device)
          (student(x) - teacher(x)).sum().backward()
        """,
        id="chained-like-its-sibling",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8))
          model.load_state_dict({})
          model[1] = nn.Linear(8, 2)
        + model.to(device)
          optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="behind-changes",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument("--cuda", action="store_true")
          args = parser.parse_args()
          model = nn.Linear(4, 2)
          criterion = nn.CrossEntropyLoss(weight=torch.tensor([0.2, 0.8]))
          if args.cuda:
              model.cuda()
        +     criterion.cuda()
          x, y = torch.randn(2, 4), torch.tensor([0, 1])
          if args.cuda:
              x, y = x.cuda(), y.cuda()
          criterion(model(x), y).backward()
        """,
        id="under-the-same-flag",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument("--cuda", action="store_true")
          args = parser.parse_args()
          model = nn.Linear(4, 2)
          if args.cuda:
              model.cuda()
          head = nn.Linear(2, 2)
        + if args.cuda:
        +     head.cuda()
          x = torch.randn(2, 4)
          if args.cuda:
              x = x.cuda()
          head(model(x)).sum().backward()
        """,
        id="a-flag-of-its-own",
    ),
    pytest.param(
        """
          import copy

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
          ema = copy.deepcopy(model)
          model.to(device)
        + ema.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
          with torch.no_grad():
              for old, new in zip(ema.parameters(), model.parameters()):
                  old.mul_(0.9).add_(new, alpha=0.1)
        """,
        id="copied-before-the-move",
    ),
    pytest.param(
        """
          import copy

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
          ema = copy.deepcopy(model)
          model.to(device)
        + ema.to(device)
          with torch.no_grad():
              for old, new in zip(ema.state_dict().values(), model.state_dict().values()):
                  old.copy_(0.9 * old + 0.1 * new)
        """,
        id="averaged-by-state-dict",
    ),
    pytest.param(
        """
          import torch.nn.utils.parametrize as parametrize


          class Scale(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.scale = nn.Parameter(torch.ones(1, 4))

              def forward(self, weight):
                  return weight * self.scale


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - parametrize.register_parametrization(model, "weight", Scale())
        + parametrize.register_parametrization(model, "weight", Scale().to(device))
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="parametrization-of-a-moved-layer",
    ),
    pytest.param(
        """
          import sys

          cuda = torch.cuda.is_available()
          net_g = nn.Linear(4, 2)
          net_d = nn.Linear(2, 1)
          if cuda:
              net_g = net_g.cuda()
        +     net_d = net_d.cuda()
          if len(sys.argv) > 1:
              net_d.load_state_dict({})
          x = torch.randn(2, 4)
          if cuda:
              x = x.cuda()
          net_d(net_g(x)).sum().backward()
        """,
        id="beside-its-sibling-ahead-of-the-checkpoint",
    ),
    pytest.param(
        """
          def build(width):
              return nn.Sequential(nn.Linear(4, width), nn.Linear(width, 2))


          def main():
              device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
              one = build(8).to(device)
        -     two = build(16)
        +     two = build(16).to(device)
              x = torch.randn(2, 4, device=device)
              (one(x) + two(x)).sum().backward()


          main()
        """,
        id="made-by-a-function",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, teacher, device):
                  self.device = device
                  self.model = model.to(self.device)
        -         self.teacher = teacher
        +         self.teacher = teacher.to(self.device)

              def step(self, x):
                  x = x.to(self.device)
                  return (self.model(x) - self.teacher(x)).pow(2).mean()


          trainer = Trainer(nn.Linear(4, 2), nn.Linear(4, 2), torch.device("cuda"))
          trainer.step(torch.randn(2, 4)).backward()
        """,
        id="kept-by-a-trainer",
    ),
    pytest.param(
        """
          device = "cuda" if torch.cuda.is_available() else "cpu"
          models = {"student": nn.Linear(4, 2).to(device)}
        - models["teacher"] = nn.Linear(4, 2)
        + models["teacher"] = nn.Linear(4, 2).to(device)
          x = torch.randn(2, 4).to(device)
          (models["student"](x) - models["teacher"](x)).sum().backward()
        """,
        id="in-a-dictionary",
    ),
    pytest.param(
        """
          device = "cuda" if torch.cuda.is_available() else "cpu"
        - members = [nn.Linear(4, 2) for _ in range(3)]
        + members = [nn.Linear(4, 2).to(device) for _ in range(3)]
          x = torch.randn(2, 4).to(device)
          sum(member(x) for member in members).sum().backward()
        """,
        id="in-a-list",
    ),
    pytest.param(
        """
          class Loss:
              def __init__(self):
                  self.net = nn.Linear(2, 2)

              def to(self, device):
                  self.net.to(device)
                  return self

              def __call__(self, x):
                  return self.net(x).pow(2).mean()


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          loss = Loss()
        + loss.to(device)
          loss(model(torch.randn(2, 4, device=device))).backward()
        """,
        id="an-object-with-a-to-of-its-own",
    ),
    pytest.param(
        """
          def evaluate(model, batches, device):
        +     model.to(device)
              model.eval()
              return [model(x.to(device)) for x in batches]


          evaluate(nn.Linear(4, 2), [torch.ones(2, 4)], "cuda")
        """,
        id="where-the-device-has-a-name",
    ),
    pytest.param(
        """
          import torch.distributed as dist
          from torch.nn.parallel import DistributedDataParallel

          dist.init_process_group("nccl")
          rank = dist.get_rank()
          device = torch.device("cuda", rank)
        - model = nn.Linear(4, 2)
        + model = nn.Linear(4, 2).to(device)
          model = DistributedDataParallel(model, device_ids=[rank])
          model(torch.randn(2, 4)).sum().backward()
        """,
        id="wrapped-before-the-move",
    ),
    pytest.param(
        """
          import sys

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2)
          if len(sys.argv) > 1:
              model.load_state_dict({})
              model = model.to(device)
        + model = model.to(device)
          model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="moved-on-one-branch",
    ),
    pytest.param(
        """
          import torch.nn.functional as F

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - weights = torch.tensor([0.2, 0.8])
        + weights = torch.tensor([0.2, 0.8]).to(device)
          for x in torch.randn(3, 2, 4):
              F.cross_entropy(model(x.to(device)), torch.tensor([0, 1], device=device), weight=weights).backward()
        """,
        id="weights-of-a-functional-loss",
    ),
    pytest.param(
        """
          import torch.nn.functional as F

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          weights = torch.tensor([0.2, 0.8])
          print(weights.numpy())
          logits = model(torch.randn(2, 4, device=device))
        - F.cross_entropy(logits, torch.tensor([0, 1], device=device), weight=weights).backward()
        + F.cross_entropy(logits, torch.tensor([0, 1], device=device), weight=weights.to(device)).backward()
        """,
        id="weights-that-are-needed-on-the-cpu-too",
    ),
    pytest.param(
        """
          import os

          import torch.distributed as dist

          local_rank = int(os.environ["LOCAL_RANK"])
          dist.init_process_group("nccl")
        - model = nn.Linear(4, 2)
        + model = nn.Linear(4, 2).to(local_rank)
          model = nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])
          print(model(torch.ones(3, 4)))
        """,
        id="ids-of-the-wrapper",
    ),
    pytest.param(
        """
        + device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - model = nn.Linear(4, 2)
        + model = nn.Linear(4, 2).to(device)
          model = nn.DataParallel(model)
          print(model(torch.ones(3, 4)))
        """,
        id="wrapper-without-a-device",
    ),
]
UNTOUCHED = [
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        best = {key: value.detach().cpu().clone() for key, value in model.state_dict().items()}
        model(torch.randn(2, 4, device=device)).sum().backward()
        drift = sum((value.cpu() - best[key]).abs().sum() for key, value in model.state_dict().items())
        model.load_state_dict(best)
        """,
        id="kept-on-the-host-meanwhile",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        teacher = nn.Linear(4, 2)
        student = nn.Linear(4, 2).to(device)
        x = torch.randn(2, 4)
        target = teacher(x).to(device)
        (student(x.to(device)) - target).sum().backward()
        """,
        id="fed-on-the-cpu",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        nets = [nn.Linear(4, 4), nn.Linear(4, 4)]
        for net in nets:
            net.to(device)
        x = torch.randn(2, 4, device=device)
        nets[1](nets[0](x)).sum().backward()
        """,
        id="moved-in-a-loop",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        criterion = nn.CrossEntropyLoss()
        pooling = nn.AdaptiveAvgPool1d(2)
        criterion(pooling(model(torch.randn(2, 4, device=device))), torch.tensor([0, 1], device=device)).backward()
        """,
        id="nothing-to-move",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        weights = torch.tensor([0.2, 0.8])
        model = nn.Linear(4, 2).to(device)
        criterion = nn.CrossEntropyLoss(weight=weights.to(device))
        criterion(model(torch.randn(2, 4, device=device)), torch.tensor([0, 1], device=device)).backward()
        """,
        id="weights-that-are-there",
    ),
    pytest.param(
        """
        from lib import deploy

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        deploy(model, device)
        model(torch.randn(2, 4, device=device)).sum().backward()
        """,
        id="given-to-unknown-code",
    ),
    pytest.param(
        """
        from accelerate import Accelerator

        accelerator = Accelerator()
        model = nn.Linear(4, 2)
        model = accelerator.prepare(model)
        model(torch.randn(2, 4, device=accelerator.device)).sum().backward()
        """,
        id="placed-by-a-framework",
    ),
    pytest.param(
        """
        import copy

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        ema = copy.deepcopy(model)
        for old, new in zip(ema.parameters(), model.parameters()):
            old.data.mul_(0.9).add_(new.data, alpha=0.1)
        """,
        id="copied-behind-the-move",
    ),
    pytest.param(
        """
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        model.cpu()
        torch.save(model.state_dict(), "model.pt")
        """,
        id="sent-back-by-hand",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_it_is_moved_as_its_author_would(repair, before_and_after, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", [*UNTOUCHED, *OWN_MOVERS])
def test_it_stays_as_it_is(repair, unchanged, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_a_model_of_another_file_is_moved_where_the_program_starts(repair, files_before_and_after):
    before, after = files_before_and_after(
        {
            "train.py": """
              import torch
              from models import Net, make

              device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            - one, two = Net(), make()
            + one, two = Net().to(device), make().to(device)
              x = torch.randn(2, 4, device=device)
              (one(x) + two(x)).sum().backward()
            """,
            "models.py": """
            from torch import nn

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(4, 2)

                def forward(self, x):
                    return self.fc(x)


            def make():
                net = Net()
                return net
            """,
        }
    )

    assert repair(CODE, before) == after


def test_one_cause_is_told_once_at_the_construction(tmp_path):
    text = (
        "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))\n"
        "x = torch.ones(2, 4).cuda()\nfor _ in range(3):\n    net(x).sum().backward()\n"
    )
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    (resolution,) = engine.check([file], Settings(root=str(tmp_path))).resolutions

    assert (resolution.finding.code, resolution.finding.severity) == (CODE, Severity.ERROR)
    assert resolution.finding.span.line == 4
    assert [event.kind for event in resolution.finding.events] == ["created", "used"]


def test_where_nothing_names_a_device_it_is_reported(tmp_path):
    text = (
        "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 4)\n"
        "def place():\n    import lib\n    return torch.ones(2, 4, device=lib.DEVICE)\n\nnet(place())\n"
    )
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    outcome = engine.apply([file], Settings(root=str(tmp_path), select=(CODE,)))

    assert all(resolution.status is Status.NOT_FIXED for resolution in outcome.resolutions)
    assert outcome.patch.files == ()


TWO_NETWORKS = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2)
target = nn.Linear(4, 2){comment}
x = torch.randn(2, 4).to(device)
(model(x) - target(x)).sum().backward()
for old, new in zip(target.parameters(), model.parameters()):
    old.data.mul_(0.9).add_(new.data)
"""


def test_networks_that_meet_each_other_are_moved_together(tmp_path):
    text = TWO_NETWORKS.format(comment="")
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    outcome = engine.apply([file], Settings(root=str(tmp_path)))

    assert [resolution.status for resolution in outcome.resolutions] == [Status.FIXED, Status.FIXED]
    assert outcome.patch.files[0].new.decode().count(".to(device)") == 3


def test_one_that_is_to_be_left_alone_is_not_moved_with_the_other(tmp_path):
    text = TWO_NETWORKS.format(comment="  # devfix: ignore[DEV204]")
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    outcome = engine.apply([file], Settings(root=str(tmp_path)))

    assert {resolution.status for resolution in outcome.resolutions} == {Status.NOT_FIXED, Status.SUPPRESSED}
    assert outcome.patch.files == ()


def test_a_class_that_nothing_uses_is_nobodys_fault(tmp_path):
    text = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.embed = nn.Embedding(9, 4)\n\n    def forward(self, tokens):\n"
        "        return self.embed(torch.arange(3, device=tokens.device))\n"
    )
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    settings = Settings(root=str(tmp_path), severity=Severity.LATENT)

    assert engine.check([file], settings).resolutions == ()


def test_an_object_that_moves_none_of_its_modules_is_found_all_the_same(repair, unchanged):
    text = unchanged(session("self.device = device"))

    assert repair(CODE, text) == text.replace("nn.Linear(4, 4)", "nn.Linear(4, 4).to(self.device)").replace(
        "nn.Linear(4, 1)", "nn.Linear(4, 1).to(self.device)"
    )


def test_a_move_that_is_asked_for_is_not_made_without_asking(repair, unchanged):
    text = unchanged(
        """
        class Pair:
            def __init__(self):
                self.encoder = nn.Linear(6, 2)
                self.decoder = nn.Linear(2, 6)
                self.made = True

        def to_gpu(pair):
            pair.encoder.cuda()

        model = Pair()
        if torch.cuda.is_available():
            to_gpu(model)
            x = torch.randn(7, 6).cuda()
            (model.decoder(model.encoder(x)) - x).pow(2).mean().backward()
        """
    )

    assert "nn.Linear(2, 6).cuda()" not in repair(CODE, text)
