"""``Open proof``: a script is run in the background, and the verdict comes back."""

from __future__ import annotations

import subprocess

import pytest
from lsprotocol import types

BROKEN = """
import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    x = torch.ones(3, 4)
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SLOW = "import time\n\nprint('MARK')\ntime.sleep(300)\n"
SIGNALLED = """
import os, signal, subprocess
start = subprocess.Popen.__init__
def started(self, *args, **kwargs):
    start(self, *args, **kwargs)
    os.kill(os.getpid(), signal.SIGTERM)
subprocess.Popen.__init__ = started
from devfix.cli import main; main(["lsp", "--stdio"])
"""
DONE = 120  # seconds


@pytest.mark.thorough
@pytest.mark.slow
def test_the_verdict_is_shown_and_given_back(write, desk):
    write({"train.py": BROKEN})
    desk.open("train.py")

    verdict = desk.command("devfix.openProof", desk.uri("train.py")).result(DONE)

    assert verdict["verdict"] == "fixed"
    assert any(message.startswith("train.py: fixed: ") for message in desk.messages)
    begin, *_, end = desk.progress
    assert (begin["title"], begin["cancellable"]) == ("devfix: proving train.py", True)
    assert end["message"] == "fixed"
    (page,) = desk.documents
    assert page.external is True and page.uri.endswith(".html")


@pytest.mark.slow
def test_a_proof_can_be_cancelled(write, desk, tmp_path):
    write({"slow.py": SLOW})
    running = desk.command("devfix.openProof", desk.uri("slow.py"))
    desk.until(lambda: desk.tokens and desk.progress)
    desk.eventually(lambda: _processes("slow.py"))
    with pytest.raises(Exception, match="is being proved already"):
        desk.command("devfix.openProof", desk.uri("slow.py")).result(20)

    desk.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(desk.tokens[0]))

    assert running.result(20) is None
    assert desk.progress[-1]["message"] == "cancelled"
    desk.eventually(lambda: not _processes("slow.py"))


@pytest.mark.slow
def test_the_end_of_the_server_ends_the_proof(write, editor):
    write({"slower.py": SLOW})
    ed = editor().start()
    ed.command("devfix.openProof", ed.uri("slower.py"))
    ed.eventually(lambda: _processes("slower.py"))

    ed.process.terminate()

    ed.ended()
    ed.eventually(lambda: not _processes("slower.py"))


@pytest.mark.slow
def test_a_signal_while_the_proof_starts_ends_the_proof(write, editor):
    write({"slowest.py": SLOW})
    ed = editor(SIGNALLED).start()
    ed.command("devfix.openProof", ed.uri("slowest.py"))

    ed.ended()
    ed.eventually(lambda: not _processes("slowest.py"))


def test_what_is_not_saved_is_not_proved(write, desk):
    write({"train.py": BROKEN})
    desk.open("train.py", BROKEN + "\n# not saved\n")

    with pytest.raises(Exception, match=r"save train\.py first"):
        desk.command("devfix.openProof", desk.uri("train.py")).result(20)


def test_what_cannot_be_run_is_told(desk):
    with pytest.raises(Exception, match=r"nowhere\.py"):
        desk.command("devfix.openProof", desk.uri("nowhere.py")).result(60)


def _processes(name: str) -> list[str]:
    """Command lines in which a script is named."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line for line in listed if name in line]
