"""A silent repair changes what is trained, and nothing else of the training."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from devfix.verify import Run, prove, run
from devfix.verify.confirmation import FROZEN_RUN

from .scripts import edited, project

#: The head is replaced after the optimizer was built: it gets gradients, and nothing steps it.
STALE_HEAD = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 16), nn.LayerNorm(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
model[4] = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 3)).to(device)
data = torch.utils.data.TensorDataset(torch.randn(48, 4), torch.randint(3, (48,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True):
    x, y = x.to(device), y.to(device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
"""
BUILT = STALE_HEAD[STALE_HEAD.index("optimizer = ") : STALE_HEAD.index("model[4]")]
HEAD = next(line for line in STALE_HEAD.splitlines(keepends=True) if line.startswith("model[4]"))
REPAIRED = STALE_HEAD.replace(BUILT, "").replace(HEAD, HEAD + BUILT)

#: Nothing at all trains: the optimizer holds a model that is thrown away.
STALE_MODEL = """\
import copy, torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.SGD([{"params": model[0].parameters(), "lr": 1e-3}, {"params": model[2].parameters()}], lr=1e-2)
model = copy.deepcopy(model)
batches = [(torch.randn(8, 4), torch.randint(3, (8,))) for _ in range(5)]
for x, y in batches:
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
COPIED = "model = copy.deepcopy(model)\n"
MADE = next(line for line in STALE_MODEL.splitlines(keepends=True) if line.startswith("optimizer = "))
REBUILT = STALE_MODEL.replace(COPIED, "").replace(MADE, COPIED + MADE)

STEP = "    optimizer.step()"
LOOP = "for x, y in"

WRONG_HEAD = {
    "another learning rate": (edited("lr=1e-2", "lr=2e-2", REPAIRED), "lr=0.02 instead of 0.01"),
    "another learning rate for the head": (
        STALE_HEAD.replace(HEAD, HEAD + 'optimizer.add_param_group({"params": model[4].parameters(), "lr": 0.1})\n'),
        "step 1 of the optimizers and schedulers (AdamW) has lr=0.1 instead of 0.01",
    ),
    "another weight decay": (edited("weight_decay=0.1", "weight_decay=0", REPAIRED), "weight_decay=0 instead of 0.1"),
    "another optimizer": (
        edited("optim.AdamW(", "optim.Adam(", REPAIRED),
        "a step of Adam where the reference has a step of AdamW",
    ),
    "another schedule": (edited("optimizer, 2)", "optimizer, 3)", REPAIRED), "(StepLR) has step_size=3 instead of 2"),
    "no schedule": (edited("    scheduler.step()\n", "", REPAIRED), "where the reference has a step of StepLR"),
    "one more step of the schedule": (REPAIRED + "scheduler.step()\n", "StepLR steps more times"),
    "the batches after the first in another order": (
        edited(", shuffle=True)", ", sampler=order)", REPAIRED).replace(
            LOOP, "order = list(torch.utils.data.RandomSampler(data))\norder[8:] = order[:7:-1]\nfor x, y in"
        ),
        "more parameters train, but",
    ),
    "a smaller norm": (
        edited("(), 1.0)", "(), 0.1)", REPAIRED),
        "call 1 of clip_grad_norm_ has max_norm=0.1 instead of 1.0",
    ),
    "gradients of later steps are scaled": (
        edited(STEP, f"    seen.append(1)\n    if len(seen) > 3: model[0].weight.grad *= 10\n{STEP}", REPAIRED).replace(
            LOOP, f"seen = []\n{LOOP}"
        ),
        "with these frozen loss 5 is",
    ),
    "the last step of the others is taken back": (
        edited(STEP, f"    before = model[0].weight.detach().clone()\n{STEP}", REPAIRED)
        + "model[0].weight.data.copy_(before)\n",
        "the final values of the others differ",
    ),
    "one step more": (REPAIRED + "optimizer.step()\n", "AdamW steps more times"),
    "a parameter more that gets a gradient": (
        edited("cross_entropy(model(x), y)", "cross_entropy(model(x), y) + 0 * more.sum()", REPAIRED).replace(
            LOOP, f"more = nn.Parameter(torch.zeros(2, device=device))\n{LOOP}"
        ),
        "1 parameter now has a gradient (2)",
    ),
}
WRONG_MODEL = {
    "groups that change places": (
        REBUILT.replace("model[0].p", "model[9].p")
        .replace("model[2].p", "model[0].p")
        .replace("model[9].p", "model[2].p"),
        "parameters that moved to a group with other settings",
    ),
    "learning rates that change places": (
        edited(
            ', "lr": 1e-3}, {"params": model[2].parameters()}',
            '}, {"params": model[2].parameters(), "lr": 1e-3}',
            REBUILT,
        ),
        "lr=0.01 instead of 0.001",
    ),
    "momentum": (edited("lr=1e-2)", "lr=1e-2, momentum=0.9)", REBUILT), "momentum=0.9 instead of 0"),
    "one learning rate": (edited(', "lr": 1e-3}', "}", REBUILT), "lr=0.01 instead of 0.001"),
    "batches from the second on in another order": (
        edited("in batches:", "in batches[:1] + batches[:0:-1]:", REBUILT),
        "with these frozen loss 2 is",
    ),
    "a gradient of another loss": (
        edited("    loss.backward()\n", "    loss.backward()\n    model[2].bias.grad.zero_()\n", REBUILT),
        "their initial values or first gradients differ",
    ),
}

RIGHT_HEAD = {
    "built afterwards": REPAIRED,
    "one group more": STALE_HEAD.replace(HEAD, HEAD + 'optimizer.add_param_group({"params": model[4].parameters()})\n'),
    "by another name": REPAIRED.replace("optimizer", "opt").replace("optim.AdamW", "optim.AdamW"),
    "another implementation": edited("lr=1e-2,", "lr=1 / 100, foreach=False,", REPAIRED),
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Run]]:
    """The runs of each broken script, which are the same for every patch."""
    found = {}
    for source in (STALE_HEAD, STALE_MODEL):
        folder = project(tmp_path_factory.mktemp("broken"), source)
        stages = (("cpu", "cpu"), ("device", "sim"), ("unchecked", "unchecked"))
        found[source] = {f"original/{name}": run("train.py", [], device, folder) for name, device in stages}
    return found


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    ("source", "patched", "words"),
    [pytest.param(STALE_HEAD, *case, id=name) for name, case in WRONG_HEAD.items()]
    + [pytest.param(STALE_MODEL, *case, id=f"{name}, where nothing trained") for name, case in WRONG_MODEL.items()],
)
def test_a_repair_that_changes_more_of_the_training_is_refused(
    tmp_path: Path, source: str, patched: str, words: str, originals: dict[str, dict[str, Run]]
) -> None:
    folders = project(tmp_path / "a", source), project(tmp_path / "b", patched)
    found = prove(*folders, "train.py", known=originals[source])

    assert found.runs["patched/device"].ok, found.runs["patched/device"].output
    assert (found.status, found.good) == ("loss-differs", False), found.reason
    assert words in found.reason
    assert "\n" not in found.reason


@pytest.mark.sample(2)
@pytest.mark.parametrize("patch", RIGHT_HEAD)
def test_a_right_repair_trains_as_before_where_the_new_parameters_are_held_still(
    patch: str, tmp_path: Path, originals: dict[str, dict[str, Run]]
) -> None:
    folders = project(tmp_path / "a", STALE_HEAD), project(tmp_path / "b", RIGHT_HEAD[patch])
    found = prove(*folders, "train.py", known=originals[STALE_HEAD])

    assert (found.status, found.silent) == ("fixed", True), found.reason
    assert found.reason.endswith("; with these frozen, it trains as original/cpu bit for bit")
    assert found.runs[FROZEN_RUN].frozen == 4
    assert found.runs[FROZEN_RUN].losses == found.runs["original/device"].losses


def test_a_right_repair_of_a_training_that_did_nothing_is_fixed(
    tmp_path: Path, originals: dict[str, dict[str, Run]]
) -> None:
    folders = project(tmp_path / "a", STALE_MODEL), project(tmp_path / "b", REBUILT)
    found = prove(*folders, "train.py", known=originals[STALE_MODEL])

    assert (found.status, found.silent, found.runs[FROZEN_RUN].changed) == ("fixed", True, 0), found.reason


CLOSURES = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)).to(device)
x, y = torch.randn(8, 4, device=device), torch.randint(3, (8,), device=device)
optimizer = torch.optim.LBFGS(model[0].parameters(), max_iter=2)

def closure():
    loss = nn.functional.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    return loss

for _ in range(3):
    optimizer.step(closure)
"""


def test_an_optimizer_that_moves_all_together_cannot_tell(tmp_path: Path) -> None:
    folders = project(tmp_path / "a", CLOSURES), project(tmp_path / "b", edited("model[0].p", "model.p", CLOSURES))
    found = prove(*folders, "train.py")

    assert (found.status, "LBFGS updates all parameters jointly" in found.reason) == ("inconclusive", True), (
        found.reason
    )
