"""Where a function runs."""

from __future__ import annotations


def test_methods_of_modules(role_of):
    assert role_of("class Block(nn.Module):\n    def forward(self, x): ...") == "module_method"
    assert role_of("def f(x): ...") == "function"


def test_datasets_are_on_the_host(role_of):
    text = """
    from torch.utils.data import Dataset

    class Pairs(Dataset):
        def __getitem__(self, index): ...
    """
    assert role_of(text) == "host"


def test_tests_are_tests(role_of):
    assert role_of("def f(x): ...", path="tests/test_f.py") == "test"
    assert role_of("def test_f(x): ...") == "test"
