"""Programs for the engine, and rules that are replaced, for the tests of its parts."""

from __future__ import annotations

from dataclasses import replace

from devfix.config import Settings
from devfix.model import Applicability
from devfix.rules import registry

IMPORTS = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset\n\n"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
HEAD = (
    IMPORTS + DEVICE + "model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))\n"
    "model.to(device)\n"
    "model[1] = nn.Linear(8, 3)\n"
    "model(torch.randn(2, 4, device=device)).sum().backward()\n"
)
HEAD_FIXED = HEAD.replace("nn.Linear(8, 3)\n", "nn.Linear(8, 3)\nmodel.to(device)\n")
BATCH = (
    IMPORTS + DEVICE + "model = nn.Linear(4, 2).to(device)\n"
    "loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randn(8, 2)), batch_size=4)\n"
    "for x, y in loader:\n"
    "    nn.functional.mse_loss(model(x), y).backward()\n"
)
LOAD = IMPORTS + DEVICE + 'model = nn.Linear(4, 2).to(device)\nmodel.load_state_dict(torch.load("model.pt"))\n'
OPTIMIZER = (
    IMPORTS + DEVICE + "model = nn.Linear(4, 2)\n"
    "optimizer = torch.optim.Adagrad(model.parameters())\n"
    "model.to(device)\n"
    "model(torch.randn(2, 4, device=device)).sum().backward()\n"
    "optimizer.step()\n"
)
ADVICE = OPTIMIZER.replace("Adagrad", "Adam")
LATENT = "import torch\n\n\ndef restore(model: torch.nn.Module, path):\n    model.load_state_dict(torch.load(path))\n"
CLEAN = IMPORTS + "print(nn.Linear(4, 2)(torch.randn(2, 4)))\n"


def settings(**given):
    return Settings(root=".", **given)


def told(outcome):
    return [(item.finding.code, item.finding.path, item.status) for item in outcome.resolutions]


def texts(outcome):
    return {change.path: change.new.decode() for change in outcome.patch.files}


def with_rules(monkeypatch, **detect):
    """Replace the detection of rules by their codes."""
    rules = tuple(
        replace(rule, detect=detect[rule.code]) if rule.code in detect else rule for rule in registry.all_rules()
    )
    monkeypatch.setattr(registry, "all_rules", lambda: rules)


def changed_remedies(monkeypatch, change):
    original = registry.rule_for("DEV201").detect

    def detect(facts):
        for finding in original(facts):
            yield replace(finding, fixes=tuple(change(fix) for fix in finding.fixes))

    with_rules(monkeypatch, DEV201=detect)


def only_unsafe(monkeypatch):
    changed_remedies(monkeypatch, lambda fix: replace(fix, applicability=Applicability.UNSAFE))
