"""What a run records: losses, steps and parameters, however a script trains and starts."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from devfix.verify import Run, prove, run

from .scripts import project

SETUP = """\
import torch
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x, y = torch.randn(8, 3, device=device), torch.randn(8, 1, device=device)
net = torch.nn.Linear(3, 1).to(device)
loss_of = lambda: torch.nn.functional.mse_loss(net(x), y)
"""

OPTIMIZED = """\
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss_of().backward()
    optimizer.step()
"""

LBFGS = """\
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
def closure():
    optimizer.zero_grad()
    loss = loss_of()
    loss.backward()
    return loss
for _ in range(2):
    optimizer.step(closure)
"""

ACCUMULATED = """\
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    (loss_of() / 2).backward()
    if step % 2:
        optimizer.step()
        optimizer.zero_grad()
"""

ADVERSARIES = """\
other = torch.nn.Linear(3, 3).to(device)
first = torch.optim.Adam(net.parameters())
second = torch.optim.RMSprop(other.parameters())
for _ in range(2):
    first.zero_grad()
    loss_of().backward()
    first.step()
    second.zero_grad()
    torch.autograd.backward([other(x).mean(), other(x).square().mean()])
    second.step()
"""

BY_DATA = """\
for _ in range(4):
    net.zero_grad()
    loss_of().backward()
    for p in net.parameters():
        p.data -= 0.1 * p.grad
"""

BY_REPLACING = """\
w = torch.zeros(3, 1, device=device, requires_grad=True)
for _ in range(4):
    loss = (x @ w - y).square().mean()
    (slope,) = torch.autograd.grad(loss, w)
    w = (w - 0.1 * slope).detach().requires_grad_()
"""

PENALTY = """\
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
points = torch.randn(4, 3, device=device, requires_grad=True)
for _ in range(3):
    (slope,) = torch.autograd.grad(net(points).sum(), points, create_graph=True)
    optimizer.zero_grad()
    (loss_of() + slope.square().mean()).backward()
    optimizer.step()
"""

WEIGHTED = """\
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    errors = (net(x) - y).square()
    errors.backward(torch.full_like(errors, 1 / 8))
    optimizer.step()
"""

NOTHING_UPDATED = "for _ in range(4):\n    loss_of().backward()\n"

IN_A_THREAD = "import threading\ndef work():\n" + "".join(f"    {line}\n" for line in OPTIMIZED.splitlines())
IN_A_THREAD += "threading.Thread(target=work).start()\n"

SPAWNED = (
    "import torch.multiprocessing as mp\ndef work(rank, factor):\n    assert (rank, factor) == (0, 2)\n"
    + "".join(f"    {line}\n" for line in OPTIMIZED.splitlines())
    + "if __name__ == '__main__':\n    mp.spawn(work, args=(2,), nprocs=1, join=True)\n"
)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("source", "losses", "steps", "optimizers", "parameters"),
    [
        pytest.param(OPTIMIZED, 3, 3, ("SGD",), 2, id="an optimizer"),
        pytest.param(LBFGS, 6, 2, ("LBFGS",), 2, id="closures"),
        pytest.param(ACCUMULATED, 6, 3, ("SGD",), 2, id="accumulated gradients"),
        pytest.param(ADVERSARIES, 6, 4, ("Adam", "RMSprop"), 4, id="several optimizers and roots"),
        pytest.param(BY_DATA, 4, 4, (), 2, id="updates by hand"),
        pytest.param(BY_REPLACING, 4, 3, (), 1, id="new tensors by hand"),
        pytest.param(PENALTY, 3, 3, ("SGD",), 2, id="a penalty is no loss"),
        pytest.param(WEIGHTED, 3, 3, ("SGD",), 2, id="a root with a gradient"),
        pytest.param(NOTHING_UPDATED, 4, 0, (), 0, id="nothing is updated"),
        pytest.param(IN_A_THREAD, 3, 3, ("SGD",), 2, id="a thread"),
        pytest.param(SPAWNED, 3, 3, ("SGD",), 2, id="one spawned worker"),
    ],
)
def test_losses_and_steps(
    tmp_path: Path, source: str, losses: int, steps: int, optimizers: tuple[str, ...], parameters: int
) -> None:
    folder = project(tmp_path, SETUP + source)
    here, there = run("train.py", [], "cpu", folder), run("train.py", [], "sim", folder)

    assert there.ok, there.outcome
    assert (len(there.losses), there.steps, there.optimizers, there.parameters) == (
        losses,
        steps,
        optimizers,
        parameters,
    )
    assert (here.losses, here.digest) == (there.losses, there.digest)
    assert (there.digest is None) == (parameters == 0)


def test_a_root_with_a_gradient_is_recorded_as_the_loss_that_it_stands_for(tmp_path: Path) -> None:
    plain = run("train.py", [], "cpu", project(tmp_path / "a", SETUP + OPTIMIZED))
    weighted = run("train.py", [], "cpu", project(tmp_path / "b", SETUP + WEIGHTED))

    assert weighted.losses == pytest.approx(plain.losses)


def test_updates_by_hand_are_limited_too(tmp_path: Path) -> None:
    found = run("train.py", [], "sim", project(tmp_path, SETUP + BY_DATA), max_steps=2)

    assert (found.ended_early, found.steps, len(found.losses)) == (True, 2, 2)


def test_a_repair_of_a_script_without_optimizer_is_proved(tmp_path: Path) -> None:
    broken = SETUP.replace("8, 1, device=device", "8, 1") + BY_DATA
    found = prove(project(tmp_path / "a", broken), project(tmp_path / "b", SETUP + BY_DATA), "train.py")

    assert found.status == "fixed", found.reason


def test_a_patch_that_stops_updates_by_hand_is_refused(tmp_path: Path) -> None:
    broken = SETUP.replace("8, 1, device=device", "8, 1") + BY_DATA
    wrong = SETUP + BY_DATA.replace("p.data -=", "p.data -")

    found = prove(project(tmp_path / "a", broken), project(tmp_path / "b", wrong), "train.py")

    assert found.status == "loss-differs", found.reason


# --- notebooks --------------------------------------------------------------------------------------------------------
NOTEBOOK = (
    """\
#!/usr/bin/env python
# coding: utf-8

# In[1]:


get_ipython().system('pip install no-such-package && touch installed')
get_ipython().system('mkdir -p checkpoints')
get_ipython().run_line_magic('matplotlib', 'inline')
get_ipython().run_line_magic('env', 'RUN_NAME=a name')


# In[2]:


"""
    + SETUP
    + """\
display(net)
get_ipython().run_cell_magic('time', '', 'scale = 2.0\\n')
get_ipython().run_cell_magic('writefile', 'rates.py', 'rate = 0.1\\n')
from rates import rate
import os
assert (os.environ['RUN_NAME'], scale, rate) == ('a name', 2.0, 0.1)
"""
    + OPTIMIZED
    + "torch.save(net.state_dict(), 'checkpoints/net.pt')\n"
    "assert get_ipython().getoutput('ls checkpoints') == ['net.pt']\nassert not os.path.exists('installed')\n"
)


def test_an_exported_notebook_runs(tmp_path: Path) -> None:
    found = run("train.py", [], "sim", project(tmp_path, NOTEBOOK))

    assert found.ok, found.output
    assert (len(found.losses), "Linear(in_features=3" in found.output) == (3, True)


def test_other_scripts_are_not_told_that_they_are_notebooks(tmp_path: Path) -> None:
    source = "try:\n    get_ipython()\nexcept NameError:\n    print('a script')\n"

    assert once(tmp_path, source).output == "a script\n"


def once(tmp_path: Path, source: str) -> Run:
    return run("train.py", [], "cpu", project(tmp_path, source))


# --- endings ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", ["sys.exit(main())", "raise SystemExit(main())", "exit()", "raise SystemExit"])
def test_an_ending_is_no_failure(tmp_path: Path, ending: str) -> None:
    found = once(tmp_path, f"import sys\ndef main():\n    return 0\nif __name__ == '__main__':\n    {ending}\n")

    assert (found.ok, found.failure) == (True, None)


def test_a_message_to_exit_with_is_shown(tmp_path: Path) -> None:
    found = once(tmp_path, "import sys\nsys.exit('no data')\n")

    assert (found.exit_code, found.output) == (1, "no data\n")


def test_click_commands_end_well_and_show_their_errors(tmp_path: Path) -> None:
    pytest.importorskip("click")
    source = "import click\n@click.command()\n@click.option('--lr', type=float)\ndef main(lr):\n    print(lr)\nmain()\n"
    folder = project(tmp_path, source)

    good, bad = run("train.py", ["--lr", "0.5"], "cpu", folder), run("train.py", ["--lr", "x"], "cpu", folder)

    assert (good.ok, good.output) == (True, "0.5\n")
    assert (bad.exit_code, bad.device_error, "'x' is not a valid float" in bad.output) == (2, False, True)
