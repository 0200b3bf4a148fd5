"""The names that are bound at a node."""

from __future__ import annotations

import ast

import pytest

from devfix.syntax.bindings import (
    assigned_names,
    binds,
    bound_before,
    bound_names,
    in_scope,
    is_chain,
    iterated_names,
    parameters,
    root_name,
    source_names,
)
from devfix.syntax.tree import SourceTree


def function(text):
    return ast.parse(text).body[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(a, /, b, *, c=1): pass", ["a", "b", "c"]),
        ("def f(*args, **kwargs): pass", []),
        ("def f(): pass", []),
        ("class C: pass", []),
    ],
    ids=["three-kinds", "variadic", "none", "class"],
)
def test_parameters_are_named_without_variadic_ones(text, names):
    assert parameters(function(text)) == names


@pytest.mark.parametrize(
    ("body", "name", "bound"),
    [
        pytest.param("use()", "p", True, id="parameter"),
        pytest.param("use()", "outer", True, id="name-of-an-outer-scope"),
        pytest.param("x = 1\n    use()", "x", True, id="earlier"),
        pytest.param("use()\n    x = 1", "x", False, id="later"),
        pytest.param("if p:\n        x = 1\n    use()", "x", False, id="one-branch"),
        pytest.param("if p:\n        x = 1\n        use()", "x", True, id="same-branch"),
        pytest.param("for x in p:\n        use()", "x", True, id="loop-target"),
        pytest.param("for x in p:\n        pass\n    use()", "x", False, id="after-the-loop"),
        pytest.param("with p as x:\n        use()", "x", True, id="with"),
        pytest.param("try:\n        x = 1\n    finally:\n        use()", "x", False, id="finally"),
        pytest.param("match p:\n        case 1:\n            x = 1\n            use()", "x", True, id="case"),
    ],
)
def test_a_name_is_bound_before_a_statement_on_every_path_or_not(body, name, bound):
    tree = SourceTree("t.py", f"def f(p):\n    {body}\n")
    statement = next(node for node in tree.nodes if isinstance(node, ast.Expr))

    assert bound_before(tree, tree.tree.body[0], statement, name) is bound


@pytest.mark.parametrize(
    ("text", "always"),
    [
        ("x: int = 1", True),
        ("def x(): pass", True),
        ("from a import b as x", True),
        ("import x.y", True),
        ("if a:\n    x = 1\nelse:\n    return", True),
        ("while a:\n    x = 1", False),
        ("import a as b", False),
        ("x.y = 1", False),
        ("del x", False),
    ],
)
def test_a_statement_binds_a_name_on_every_path_or_not(text, always):
    assert binds(ast.parse(text).body[0], "x") is always


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("x, (y, *z) = p", {"x", "y", "z"}),
        ("def g():\n        inner = 1", {"g"}),
        ("import a.b, c as d", {"a", "d"}),
        ("for i in p:\n        j = i", {"i", "j"}),
        ("p.x = 1", set()),
        ("f = lambda: (q := 1)", {"f"}),
    ],
    ids=["unpacking", "nested-function", "imports", "loop", "attribute", "lambda"],
)
def test_assigned_names_leave_out_parameters_and_nested_functions(body, names):
    assert assigned_names(function(f"def f(p):\n    {body}\n")) == names


@pytest.mark.parametrize(
    ("before", "names"),
    [(None, {"a", "rest", "x", "error", "late"}), (3, {"a", "rest", "x"}), (1, {"a", "rest"})],
    ids=["everywhere", "above-line-3", "above-all"],
)
def test_bound_names_include_parameters_and_can_end_at_a_line(before, names):
    text = (
        "def f(a, *rest):\n    x = [i for i in a]\n    try:\n        late = 1\n    except E as error:\n        pass\n"
    )

    assert bound_names(function(text), before) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [("a.b[0].c()", "a"), ("a", "a"), ("(a + b).c", None), ("1", None), ("a b", None)],
)
def test_the_root_name_starts_a_chain(text, names):
    assert root_name(text) == names


SCOPES = SourceTree(
    "t.py",
    """\
top = 1


def f(p):
    x = [here for i in p]
    return lambda q: inner


if __name__ == "__main__":
    main = 1
    end
after = 1
""",
)


@pytest.mark.parametrize(
    ("at", "text", "visible"),
    [
        ("here", "p[i] + len(top)", True),
        ("here", "x", False),
        ("inner", "p + q + x", True),
        ("inner", "i", False),
        ("inner", "after", True),
        ("inner", "main", False),
        ("end", "main", True),
        ("end", "after", False),
        ("end", "p", False),
        ("end", "not an expression", False),
    ],
)
def test_an_expression_is_in_scope_if_all_its_names_are_bound(at, text, visible):
    node = next(node for node in SCOPES.nodes if isinstance(node, ast.Name) and node.id == at)

    assert in_scope(SCOPES, node, text) is visible


@pytest.mark.parametrize(
    ("text", "chain"),
    [("a", True), ("a.b[0].c", True), ("a['k']", True), ("a()", False), ("a.b + 1", False), ("a[b[0]]", False)],
)
def test_a_chain_has_attributes_and_subscripts_only(text, chain):
    assert is_chain(text) is chain


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("return x", {"x"}),
        ("y = x[0]\n    return y + z", {"x", "z"}),
        ("for y in x:\n        return y", {"x"}),
        ("return [y for y in x]", {"x"}),
        ("y: int = f(x)\n    y += z\n    return y", {"f", "x", "z"}),
        ("x = np.abs(x)\n    return x", {"np", "x"}),
        ("y = []\n    return y", set()),
    ],
)
def test_sources_of_an_expression(body, names):
    function = ast.parse(f"def f(x, z):\n    {body}\n").body[0]
    result = next(node for node in ast.walk(function) if isinstance(node, ast.Return))

    assert source_names(function, result.value) == names


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("for y in x:\n        pass", {"x"}),
        ("for i, y in enumerate(x):\n        pass", {"x"}),
        ("return [y + w for y, w in zip(x, z)]", {"x", "z"}),
        ("for i in range(len(x)):\n        pass", set()),
        ("for y in x.items():\n        pass", set()),
    ],
)
def test_names_whose_items_are_read_in_loops(body, names):
    assert iterated_names(function(f"def f(x, z):\n    {body}\n")) == names
