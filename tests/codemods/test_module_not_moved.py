"""DEV204 by example: where a whole object is moved, in whose words, and what is left alone."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity, Status
from devfix.sources import SourceFile

from .listings import listings

CODE = "DEV204"

#: A class whose encoder and head are moved by ``device``.
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


@pytest.mark.parametrize("listing", listings("module_not_moved", "repaired"))
def test_it_is_moved_as_its_author_would(repair, before_and_after, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", [*listings("module_not_moved", "untouched"), *OWN_MOVERS])
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
    (resolution,) = fixpoint.check([file], Settings(root=str(tmp_path))).resolutions

    assert (resolution.finding.code, resolution.finding.severity) == (CODE, Severity.ERROR)
    assert resolution.finding.span.line == 4
    assert [event.kind for event in resolution.finding.events] == ["created", "used"]


def test_where_nothing_names_a_device_it_is_reported(tmp_path):
    text = (
        "import torch\nfrom torch import nn\n\nnet = nn.Linear(4, 4)\n"
        "def place():\n    import lib\n    return torch.ones(2, 4, device=lib.DEVICE)\n\nnet(place())\n"
    )
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    outcome = fixpoint.apply([file], Settings(root=str(tmp_path), select=(CODE,)))

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
    outcome = fixpoint.apply([file], Settings(root=str(tmp_path)))

    assert [resolution.status for resolution in outcome.resolutions] == [Status.FIXED, Status.FIXED]
    assert outcome.patch.files[0].new.decode().count(".to(device)") == 3


def test_one_that_is_to_be_left_alone_is_not_moved_with_the_other(tmp_path):
    text = TWO_NETWORKS.format(comment="  # devfix: ignore[DEV204]")
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    outcome = fixpoint.apply([file], Settings(root=str(tmp_path)))

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

    assert fixpoint.check([file], settings).resolutions == ()


def test_a_module_that_does_not_move_itself_in_a_special_mode_is_moved(tmp_path):
    text = """\
import os

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def to(self, *args, **kwargs):
        if os.environ.get("OFFLOADED"):
            return self
        return super().to(*args, **kwargs)

    def forward(self, x):
        return self.layer(x)


net = Net()
net.to("cuda")
print(net(torch.ones(3, device="cuda")))
"""
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    settings = Settings(root=str(tmp_path), severity=Severity.LATENT)

    assert fixpoint.check([file], settings).resolutions == ()


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


def test_a_module_does_not_move_itself_while_it_is_built(repair, unchanged):
    text = unchanged(
        """
        import pytorch_lightning as pl

        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(1, 4))

            def forward(self, x):
                return x @ (self.weight * torch.ones(1, 4).cuda()).t()

        class Net(pl.LightningModule):
            def __init__(self, size):
                super().__init__()
                self.save_hyperparameters()
                self.part = Scaled()
                with torch.no_grad():
                    self.probe(torch.zeros(2, size, device=self.device))

            def probe(self, x):
                return self.part(x)

        def build():
            return Net(4)

        net = build()
        print(net.part)
        """
    )

    assert "self.cuda()" not in repair(CODE, text)


#: Two classes of layers, of which one places itself, and a program that makes the one that its user names.
KINDS = """\
import sys

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


class Placed(nn.Linear):
    def __init__(self):
        super().__init__(3, 3, device={placed})


class Plain(nn.Linear):
    def __init__(self):
        super().__init__(3, 3)


def make(kind):
    return {{"placed": Placed, "plain": Plain}}[kind]()


net = {made}
print(net(torch.ones(2, 3, device=device)))
"""


@pytest.mark.parametrize(
    ("placed", "made", "severity"),
    [
        pytest.param("device", "make(sys.argv[1])", Severity.LATENT, id="another-kind-places-itself"),
        pytest.param("None", "make(sys.argv[1])", Severity.ERROR, id="no-kind-places-itself"),
        pytest.param("device", "make('plain')", Severity.ERROR, id="the-program-makes-this-kind"),
    ],
)
def test_it_is_an_error_only_if_no_option_makes_another_one_that_places_itself(tmp_path, placed, made, severity):
    path = tmp_path / "train.py"
    path.write_text(KINDS.format(placed=placed, made=made))

    file = SourceFile(str(path), path.read_bytes(), path.read_text())
    outcome = fixpoint.check([file], Settings(root=str(tmp_path), severity=Severity.LATENT))

    assert {each.finding.severity for each in outcome.resolutions if each.finding.code == CODE} == {severity}


USED = """\
import torch
from torch import Tensor, nn


class Fuser(nn.Module):
    def project(self, x: Tensor):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        pytest.param("return nn.Linear(3, 3)(x)", [(CODE, Severity.LATENT)], id="used-where-it-is-made"),
        pytest.param("return nn.Linear(3, 3, device=x.device)(x)", [], id="made-there"),
        pytest.param("return nn.Linear(3, 3).to(x.device)(x)", [], id="moved"),
    ],
)
def test_a_layer_that_a_function_of_a_library_makes_for_itself_is_nobody_elses_to_move(tmp_path, body, codes):
    text = USED.format(body=body)
    file = SourceFile(str(tmp_path / "lib.py"), text.encode(), text)
    outcome = fixpoint.check([file], Settings(root=str(tmp_path)))

    assert [(each.finding.code, each.finding.severity) for each in outcome.resolutions] == codes
