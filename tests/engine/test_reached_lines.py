"""Functions that programs call are left out of the library's scan, wherever edits move them."""

from __future__ import annotations

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint

LIBRARY = """
import torch


def first(x):
    return x + torch.ones(3).cuda()


def second(x: torch.Tensor):
    return x + torch.ones(3)
"""
PROGRAM = """
import torch
from lib import first, second

print(first(torch.ones(3, device="cuda" if torch.cuda.is_available() else "cpu")))
print(second(torch.ones(3)))
"""


def test_an_edit_above_a_function_that_a_program_calls_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    files, _ = sources.load(["."], (), ".")
    settings = Settings(root=".", select=("DEV811",))
    outcome = fixpoint.apply(files, settings)

    (library,) = [change.new.decode() for change in outcome.patch.files if change.path == "lib.py"]
    assert "torch.ones(3).to(device)" in library
