"""In-place moves of the modules of an object, by syntax."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.callers.in_place_moves import in_place_moves, names_cpu, offloading_methods


def _method(body: str) -> ast.FunctionDef:
    stmt = ast.parse(f"def f(self, vae, temp_device, device):\n    {body}\n").body[0]
    assert isinstance(stmt, ast.FunctionDef)
    return stmt


@pytest.mark.parametrize(
    ("body", "attribute", "to_cpu"),
    [
        ("self.vae.cpu()", "vae", True),
        ("self.vae.to('cpu')", "vae", True),
        ("self.vae.to(device='cpu')", "vae", True),
        ("self.vae.to(torch.device('cpu'))", "vae", True),
        ("self.vae.to(temp_device)", "vae", True),
        ("self.model.vae.to(self.offload_device)", "model", True),
        ("self.vae.to(device)", "vae", False),
        ("self.vae.cuda()", "vae", False),
        ("self.vae.to('cuda')", "vae", False),
    ],
)
def test_a_statement_moves_a_module_in_place(body, attribute, to_cpu):
    assert [(move.attribute, move.to_cpu) for move in in_place_moves(_method(body))] == [(attribute, to_cpu)]


@pytest.mark.parametrize("body", ["x = self.x.cpu()", "return self.x.to('cpu')", "vae.cpu()", "self.to('cpu')", "f()"])
def test_what_is_used_or_belongs_to_others_is_no_move_of_a_module(body):
    assert list(in_place_moves(_method(body))) == []


def test_methods_offload_through_others():
    text = """
    class Trainer:
        def park(self):
            self.vae.cpu()
        def cache(self):
            self.park()
        def train(self):
            self.cache()
        def load(self):
            self.vae.to(self.device)
    """
    cls = ast.parse("\n".join(line[4:] for line in text.splitlines())).body[0]
    assert isinstance(cls, ast.ClassDef)
    assert sorted(offloading_methods(cls)) == ["cache", "park", "train"]


@pytest.mark.parametrize(("name", "expected"), [("temp_device", True), ("cpu", True), ("train_device", False)])
def test_names_of_devices_on_which_modules_wait(name, expected):
    assert names_cpu(name) is expected
