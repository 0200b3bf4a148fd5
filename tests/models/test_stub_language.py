"""Stub files: what they declare, and what is wrong with them, by file and line."""

from __future__ import annotations

import textwrap

import pytest

from devfix.models.stub_language import ROOTS, StubEntry, module_name, parse_stub, read_folder


def parsed(text, module="acme"):
    return parse_stub(textwrap.dedent(text).lstrip("\n"), module, "stubs/acme.pyi")


def problems(found):
    return [str(each) for each in found.problems]


def test_a_function_has_signatures_and_the_source_above_it():
    found = parsed(
        """
        # https://acme.example/blend
        def blend(first: On, second: On = ...) -> On: ...
        def mix(*tensors: On) -> On: ...
        # https://acme.example/cut
        def cut(tensor): ...
        """
    )

    assert found.entries == {
        "acme.blend": StubEntry("function", ["(first: On, second: On=...) -> On"], {}, "https://acme.example/blend"),
        "acme.mix": StubEntry("function", ["(*tensors: On) -> On"], {}, "https://acme.example/blend"),
        "acme.cut": StubEntry("function", ["(tensor)"], {}, "https://acme.example/cut"),
    }
    assert problems(found) == []


def test_functions_of_one_name_are_overloads():
    found = parsed(
        """
        def pick(a: On) -> On: ...
        @overload
        def pick(a: On, b: int) -> Integral: ...
        """
    )

    assert found.entries["acme.pick"].texts == ["(a: On) -> On", "(a: On, b: int) -> Integral"]


def test_a_class_has_bases_options_and_methods():
    found = parsed(
        """
        from torch.nn import Linear as Base

        class Layer(Base, weights=False): ...
        class Deep(Layer):
            '''A layer.'''
            def __call__(self, x: On) -> On: ...
        class Plain: ...
        """
    )

    assert found.entries["acme.Layer"] == StubEntry("class", ["torch.nn.Linear"], {"weights": False})
    assert found.entries["acme.Deep"].texts == ["acme.Layer"]
    assert found.entries["acme.Deep.__call__"].texts == ["(self, x: On) -> On"]
    assert found.entries["acme.Plain"].texts == ["Object"]
    assert problems(found) == []


@pytest.mark.parametrize("root", ROOTS)
def test_a_root_is_a_base(root):
    assert parsed(f"class Thing({root}): ...").entries["acme.Thing"].texts == [root]


def test_imports_and_assignments_are_other_names():
    found = parsed(
        """
        from torch import add as plus, sub
        from acme.core import *
        def mix(a: On) -> On: ...
        blend = mix
        total = torch.sum
        """
    )

    aliases = {name: entry.texts[0] for name, entry in found.entries.items() if entry.kind == "alias"}
    assert aliases == {
        "acme.plus": "torch.add",
        "acme.sub": "torch.sub",
        "acme.blend": "acme.mix",
        "acme.total": "torch.sum",
    }
    assert found.module_aliases == {"acme": "acme.core"}


@pytest.mark.parametrize(
    ("path", "module"),
    [("acme.pyi", "acme"), ("acme/__init__.pyi", "acme"), ("acme/ops/__init__.pyi", "acme.ops"), ("a/b.pyi", "a.b")],
)
def test_the_path_of_a_stub_names_its_module(tmp_path, path, module):
    assert module_name(tmp_path / path, tmp_path) == module


BAD = {
    "unknown-word": ("def bad(a: Oops) -> On: ...", 1, "`bad`: parameter `a`: `Oops` is not a word for parameters"),
    "unknown-result": ("def bad(a) -> Oops: ...", 1, "`bad`: `Oops` is not a word for results"),
    "no-parameter": ("def bad(a: On) -> Of[x]: ...", 1, "`bad`: `Of[x]` names no parameter of the function"),
    "words-missing": ("def bad(a) -> Of: ...", 1, "`bad`: `Of` takes 1 word in brackets, not 0"),
    "words-too-many": ("def bad(a) -> OnCPU[a]: ...", 1, "`bad`: `OnCPU` takes no words in brackets, not 1"),
    "body": ("\ndef bad(a):\n    return a", 2, "`bad`: a stub has `...` for a body"),
    "decorator": ("@cached\ndef bad(a): ...", 2, "`bad`: a function of a stub has no decorator but `@overload`"),
    "base": (
        "class Bad(Nowhere): ...",
        1,
        "`Bad`: `Nowhere` is neither a class of a stub nor one of " + ", ".join(ROOTS),
    ),
    "option": ("class Bad(Module, size=3): ...", 1, "`Bad`: `size=3` is not an option of a class"),
    "option-type": ("class Bad(Module, weights='no'): ...", 1, "`Bad`: `weights='no'` is not an option of a class"),
    "option-name": ("class Bad(Module, weights=no): ...", 1, "`Bad`: `weights=no` is not an option of a class"),
    "options": ("class Bad(Module, **more): ...", 1, "`Bad`: `**more` is not an option of a class"),
    "attribute": ("class Bad(Module):\n    size: int", 2, "`Bad`: a class of a stub has methods only"),
    "method": (
        "class Bad(Module):\n    def f(self, x: Oops): ...",
        2,
        "`Bad`: parameter `x`: `Oops` is not a word for parameters",
    ),
    "statement": ("for bad in range(3): ...", 1, "`for bad in range(3):` has no meaning in a stub"),
    "async": ("async def bad(a): ...", 1, "`async def bad(a):` has no meaning in a stub"),
    "relative": ("from . import bad", 1, "`from . import bad` has no meaning in a stub"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_declaration_is_left_out_and_the_rest_of_the_file_counts(name):
    text, line, message = BAD[name]
    found = parse_stub(f"{text}\ndef good(a: On) -> On: ...\n", "acme", "stubs/acme.pyi")

    assert problems(found) == [f"stubs/acme.pyi:{line}: {message}"]
    assert found.entries["acme.good"].texts == ["(a: On) -> On"]
    assert "acme.bad" not in found.entries


@pytest.mark.parametrize(
    ("text", "line"), [("def good(): ...\ndef bad(:\n", 2), ("x = (1,\n", 1), ("def good(): ...\0", 1)]
)
def test_a_file_that_is_no_python_is_one_problem(text, line):
    found = parse_stub(text, "acme", "stubs/acme.pyi")

    (problem,) = found.problems
    assert str(problem).startswith(f"stubs/acme.pyi:{line}: no Python stub: ")
    assert found.entries == {}


def test_a_folder_is_read_in_the_order_of_its_paths_and_a_bad_file_does_not_stop_it(tmp_path):
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "ops.pyi").write_text("def mix(a: On) -> On: ...\n", encoding="utf-8")
    (tmp_path / "bytes.pyi").write_bytes(b"# caf\xe9\ndef lost(a: On) -> On: ...\n")
    (tmp_path / "broken.pyi").write_text("def (\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no stub", encoding="utf-8")
    (tmp_path / "zoo.pyi").write_text("def last(a: On) -> On: ...\n", encoding="utf-8")

    found = read_folder(tmp_path)

    assert sorted(found.entries) == ["acme.ops.mix", "zoo.last"]
    assert [(each.path, each.line) for each in found.problems] == [
        (str(tmp_path / "broken.pyi"), 1),
        (str(tmp_path / "bytes.pyi"), 1),
    ]
    assert "cannot be read" in found.problems[1].message
