"""Names that rounds of a loop overwrite: bound on every path before anything reads them."""

from __future__ import annotations

import ast

import pytest

from devfix.syntax.overwritten import overwritten_names


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param("for x in xs:\n    y = x", "x y", id="target-and-assignment"),
        pytest.param("for i, (x, y) in xs:\n    pass", "i x y", id="unpacked-target"),
        pytest.param("for x in xs:\n    y = y + x", "x", id="read-in-its-own-assignment"),
        pytest.param("for x in xs:\n    y += x", "x", id="augmented"),
        pytest.param("for x in xs:\n    print(y)\n    y = x", "x", id="read-before"),
        pytest.param("for x in xs:\n    y = x\n    print(y)", "x y", id="read-afterwards"),
        pytest.param("for x in xs:\n    print(xs)\n    xs = x", "x", id="the-iterable-is-read-again"),
        pytest.param("for x in xs:\n    xs = x", "x xs", id="the-iterable-is-read-once"),
        pytest.param("for a.b in xs:\n    a = 1", "", id="attribute-as-target"),
        pytest.param("for x in xs:\n    y[x] = 1", "x", id="item"),
        pytest.param("for x in xs:\n    y: int = x", "x y", id="annotated"),
        pytest.param("for x in xs:\n    y: int\n    print(y)\n    y = 1", "x", id="annotated-only"),
        pytest.param("for x in xs:\n    if x:\n        y = 1\n    print(y)", "x", id="bound-on-one-path"),
        pytest.param("for x in xs:\n    if x:\n        y = 1", "x y", id="bound-on-one-path-and-never-read"),
        pytest.param(
            "for x in xs:\n    if x:\n        y = 1\n    else:\n        y = 2\n    print(y)", "x y", id="both-paths"
        ),
        pytest.param("for x in xs:\n    if y:\n        y = 1", "x", id="read-in-a-condition"),
        pytest.param("for x in xs:\n    with x as y, y as z:\n        w = z", "w x y z", id="with"),
        pytest.param("for x in xs:\n    try:\n        y = 1\n    except E:\n        pass\n    print(y)", "x", id="try"),
        pytest.param("for x in xs:\n    for y in x:\n        z = y", "x y z", id="inner-loop"),
        pytest.param("for x in xs:\n    for y in x:\n        z = y\n    print(y, z)", "x y", id="read-behind-it"),
        pytest.param("for x in xs:\n    for y in x:\n        print(z)\n        z = y", "x y", id="read-inside-it"),
        pytest.param("while x:\n    x = f()\n    y = x", "y", id="while"),
        pytest.param("for x in xs:\n    y = 1\n    while y:\n        y = z\n        z = 1", "x y", id="inner-while"),
        pytest.param("for x in xs:\n    print(y := x)", "x", id="in-an-expression"),
        pytest.param("for x in xs:\n    y = 1\n    del y", "x y", id="deleted"),
        pytest.param("for x in xs:\n    del y\n    y = 1", "x", id="deleted-before"),
        pytest.param("for x in xs:\n    y = 1\n    f = lambda: y", "f x", id="captured"),
        pytest.param("def f():\n    return y\nfor x in xs:\n    y = 1", "x", id="read-by-a-function"),
        pytest.param("async def run():\n    async for x in xs:\n        y = x", "", id="asynchronous"),
    ],
)
def test_names_that_each_round_overwrites(body, names):
    module = ast.parse(body)
    loop = next(node for node in ast.walk(module) if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))

    assert overwritten_names(loop, module) == frozenset(names.split())


def test_names_of_the_function_itself_are_not_those_of_an_inner_one():
    module = ast.parse("async def run():\n    async for x in xs:\n        y = x")
    function = module.body[0]

    assert overwritten_names(function.body[0], function) == {"x", "y"}
