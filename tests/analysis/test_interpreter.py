"""Programs that are large, deep or endless: the analysis comes to an end and says whether it saw everything."""

from __future__ import annotations

import ast

import pytest

from devfix import analysis

FAULT = "torch.ones(3).cuda() + torch.ones(3)\n"


def test_a_program_that_is_followed_to_its_end_is_complete(analyse):
    assert analyse(FAULT).is_complete


def test_a_program_of_many_contexts_is_followed_to_its_end(analyse):
    functions = "".join(
        f"def f{i}(n):\n    for _ in n:\n        f{i + 1}((n, {i}))\n        f{i + 1}((n, {i}, n))\n" for i in range(30)
    )
    observations = analyse(f"{FAULT}{functions}def f30(n):\n    pass\nf0(unknown)\n{FAULT}")

    assert observations.is_complete
    assert len(observations.mismatches) == 2


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("def f(n):\n    return f(n + 1)\nf(0)\n", id="endless-recursion"),
        pytest.param("def f():\n    g()\ndef g():\n    f()\nf()\n", id="mutual-recursion"),
        pytest.param("class A:\n    def __init__(self):\n        self.a = A()\nA()\n", id="endless-construction"),
        pytest.param(
            "x = []\nx.append(x)\nfor y in x:\n    for z in y:\n        print(z)\n", id="self-containing-list"
        ),
        pytest.param("class A:\n    pass\na = A()\na.a = a\nprint(a.a.a.a)\n", id="self-containing-object"),
        pytest.param(
            "class M(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.m = self\n"
            "M().cuda()\n",
            id="self-containing-module",
        ),
        pytest.param("x = 1\n" + "".join(f"if a{i}:\n    x = {i}\n" for i in range(200)), id="many-branches"),
        pytest.param(
            "".join(f"{'  ' * i}for a{i} in b:\n" for i in range(18)) + "  " * 18 + "pass\n", id="nested-loops"
        ),
        pytest.param("x = " + "+".join(["1"] * 150) + "\n", id="long-expression"),
        pytest.param("lambda: (yield)\n", id="yield-in-a-lambda"),
        pytest.param("class A(A):\n    pass\n", id="its-own-base"),
        pytest.param("def f(f=f):\n    pass\n", id="its-own-default"),
        pytest.param("from train import *\nimport train\ntrain.x\n", id="imports-itself"),
        pytest.param("x: int\nglobal y\ny = 1\nx\n", id="odd-statements"),
        pytest.param("def gen():\n    yield from gen()\nnext(gen())\n", id="endless-generator"),
        pytest.param("@property\ndef f():\n    pass\nf.x.y.z()\n", id="property-outside-a-class"),
    ],
)
def test_odd_programs_come_to_an_end_and_what_follows_is_seen(program):
    steps = 0

    def watch(interp: analysis.Interpreter, node: ast.expr, value: object) -> None:
        nonlocal steps
        steps = max(steps, interp.steps)

    files = {"/p/train.py": f"import torch\nfrom torch import nn\n{program}{FAULT}"}
    observations = analysis.analyse("/p/train.py", files.get, "/p", watch=watch)

    assert observations is not None
    assert len(observations.mismatches) == 1
    assert steps < 2_000


class TooManyError(BaseException):
    """The analysis has made more objects than the program is worth."""


def few_objects(interp: analysis.Interpreter, node: ast.expr, value: object) -> None:
    if interp.new_id() > 20_000:
        raise TooManyError


def test_a_recursive_function_does_not_multiply_the_containers_that_it_returns():
    """``decollate_batch`` of MONAI: each level of unknown data has all alternatives of the one below, in each round."""
    program = """
from copy import deepcopy
from itertools import zip_longest
import torch

def parts_of(data):
    if isinstance(data, dict):
        parts = {key: split(data[key]) for key in data}
    else:
        parts = [split(item) for item in data]
    size, single = 0, []
    for key, part in parts.items() if isinstance(parts, dict) else enumerate(parts):
        if isinstance(part, list):
            size = max(size, len(part))
        else:
            single.append(key)
    return size, single, parts

def split(data):
    if data is None or isinstance(data, (int, str)):
        return data
    if isinstance(data, torch.Tensor):
        return list(torch.unbind(data))
    size, single, parts = parts_of(data)
    if size <= 0:
        return parts
    for key in single:
        parts[key] = [deepcopy(parts[key]) for _ in range(size)]
    if isinstance(parts, dict):
        return [dict(zip(parts, item)) for item in zip_longest(*parts.values())]
    return [list(item) for item in zip_longest(*parts)]

class Decoder(torch.nn.Module):
    def forward(self, latents, steps):
        latents = torch.stack([self.resize(item) for item in split(latents)], 0)
        images = [torch.stack([self.resize(item) for item in split(each)], 0) for each in steps]
        for latent in images:
            images.append(split(latent))
        return latents + torch.zeros(3)
"""
    observations = analysis.analyse_library("/p/model.py", {"/p/model.py": program}.get, "/p", watch=few_objects)

    assert observations is not None
    assert observations.is_complete


@pytest.mark.parametrize("source", ["Graph()", "Accelerator().prepare(Graph())"])
def test_an_object_that_many_parts_of_a_batch_hold_is_copied_once(source):
    program = f"""
import torch
from accelerate import Accelerator

class Node:
    def __init__(self, inner):
        self.features = torch.ones(3)
        self.a = self.b = self.c = self.d = self.e = self.f = self.g = self.h = inner

class Graph:
    def __getitem__(self, index):
        first = [torch.ones(3)]
        first.append(first)
        return Node(Node(Node(Node(Node(Node(first))))))

for node in {source}:
    print(node.features)
{FAULT}"""
    observations = analysis.analyse("/p/train.py", {"/p/train.py": program}.get, "/p", watch=few_objects)

    assert observations is not None
    assert len(observations.mismatches) == 1


def test_the_same_program_gives_the_same_facts(analyse):
    program = "".join(f"if a{i}:\n    x{i} = torch.ones(3).cuda()\n    x{i} + torch.ones(3)\n" for i in range(20))
    runs = [[mismatch.point.key for mismatch in analyse(program).mismatches] for _ in range(3)]

    assert runs[0] == runs[1] == runs[2]
    assert len(runs[0]) == 20
