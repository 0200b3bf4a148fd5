"""What became of the functions of a file."""

from __future__ import annotations

import os
from functools import cache

import pytest

from devfix.analysis import DeviceFacts, analyse, analyse_library
from devfix.analysis.callers import any_caller
from devfix.analysis.program import Program
from devfix.model import Coverage
from devfix.syntax.tree import SourceTree

LIBRARY = """\
import torch
from torch import Tensor


def mixed(x: Tensor):
    return x + torch.ones(3)


def scaled(x: Tensor):
    return 2 * x


def plot_losses(x: Tensor):
    return x.numpy() + torch.ones(3).numpy()


def test_mixed():
    return torch.ones(3).cuda() + torch.ones(3)


def unclear(a, b):
    return torch.ones(a) + b.shift()
"""


def coverage(text, reached=()):
    def read(path):
        return text if path.endswith("file.py") else None

    parse = cache(SourceTree)  # facts are about the nodes of one tree
    facts = DeviceFacts(Program(read, ".", parse))
    found = analyse_library("file.py", read, ".", reached, parse=parse, facts=facts)
    assert found is not None
    return found.coverage


def test_each_function_of_a_library_has_an_outcome():
    assert coverage(LIBRARY) == {
        5: Coverage.ANALYSED,
        9: Coverage.TRANSPARENT,
        13: Coverage.ON_THE_CPU,
        17: Coverage.TEST,
        21: Coverage.NOT_CALLED,
    }


def test_nothing_need_be_followed_in_a_transparent_file():
    assert coverage("import torch\n\n\ndef scaled(x):\n    return 2 * x\n") == {4: Coverage.TRANSPARENT}


def test_a_function_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(any_caller, "STEPS_PER_FUNCTION", 3)

    assert coverage(LIBRARY)[5] is Coverage.GIVEN_UP


def test_what_a_program_calls_is_analysed():
    assert coverage(LIBRARY, {(os.path.abspath("file.py"), 21)})[21] is Coverage.ANALYSED


@pytest.mark.parametrize(("call", "covered"), [("f()", Coverage.ANALYSED), ("f", Coverage.NOT_CALLED)])
def test_a_program_calls_functions_or_does_not(call, covered):
    text = f"class A:\n    def f(self):\n        pass\n\n\ndef f():\n    pass\n\n\n{call}\n"
    found = analyse("file.py", lambda path: text if path == "file.py" else None, ".")

    assert found is not None
    assert found.coverage == {2: Coverage.NOT_CALLED, 6: covered}
