"""Positions in a source file: lines from 1, columns in code points."""

from __future__ import annotations

import ast
import sys
import warnings

import pytest

from devfix.model import Span
from devfix.syntax.tree import SourceTree, children, leaf_conditions, names_in, outline, short_text, walk


def named(tree: SourceTree, name: str) -> ast.AST:
    return next(node for node in ast.walk(tree.tree) if isinstance(node, ast.Name) and node.id == name)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        pytest.param("x\n", Span(1, 0, 1, 1), id="first"),
        pytest.param("'é'; x\n", Span(1, 5, 1, 6), id="behind-two-bytes"),
        pytest.param("'\U0001f525'; x\n", Span(1, 5, 1, 6), id="behind-four-bytes"),
        pytest.param("a\r\nb\r\nx\r\n", Span(3, 0, 3, 1), id="crlf"),
        pytest.param("a\rx\r", Span(2, 0, 2, 1), id="cr"),
        pytest.param("a\n\x0cx\n", Span(2, 1, 2, 2), id="form-feed"),
        pytest.param("if a:\n\tx\n", Span(2, 1, 2, 2), id="tab"),
    ],
)
def test_a_span_counts_code_points(text, span):
    tree = SourceTree("a.py", text)

    assert tree.span(named(tree, "x")) == span
    assert tree.source(named(tree, "x")) == "x"


def test_source_keeps_what_the_author_wrote():
    tree = SourceTree("a.py", "y = f(  'é',\n    b )  # c\n")
    (call,) = [node for node in ast.walk(tree.tree) if isinstance(node, ast.Call)]

    assert tree.source(call) == "f(  'é',\n    b )"
    assert tree.line(2) == "b )  # c"
    assert tree.line(0) == tree.line(99) == ""


def test_the_block_of_a_statement_is_found_in_every_kind_of_block():
    text = "try:\n    a\nexcept E:\n    b\nelse:\n    c\nfinally:\n    d\nfor i in e:\n    f\nelse:\n    g\n"
    tree = SourceTree("a.py", text)
    for name in "abcdfg":
        statement = tree.statement(named(tree, name))
        _, block, index = tree.block(statement)
        assert block[index] is statement


@pytest.mark.parametrize("text", ["def (:\n", "x = '\0'\n", "(" * 3000 + ")" * 3000])
def test_what_cannot_be_parsed_is_a_syntax_error(text):
    with pytest.raises(SyntaxError):
        SourceTree("a.py", text)


def test_conditions_are_taken_apart():
    test = ast.parse("not (a and b) or c == 1", mode="eval").body

    assert [ast.unparse(leaf) for leaf in leaf_conditions(test)] == ["a", "b", "c == 1"]


def test_conditions_that_stand_twice_are_known():
    tree = SourceTree("a.py", "if a and b:\n    pass\nx = 1 if a else 2\nif c:\n    pass\n")

    assert tree.repeated_conditions == {"a"}


@pytest.mark.parametrize(
    ("text", "names"),
    [("a.b[c](d=e)", {"a", "c", "e"}), ("'a'", set()), ("[x for x in y]", {"x", "y"})],
    ids=["chain", "string", "comprehension"],
)
def test_names_are_plain_names(text, names):
    assert names_in(ast.parse(text)) == names


def test_a_released_tree_is_parsed_again_when_it_is_needed() -> None:
    tree = SourceTree("a.py", "x = 1\nif x:\n    y = 2\n")
    known = tree.derived(lambda each: each.nodes)
    before = [(type(node), tree.span(node)) for node in known if isinstance(node, ast.stmt)]
    tree.release()

    assert not tree.is_loaded
    assert [(type(node), tree.span(node)) for node in tree.nodes if isinstance(node, ast.stmt)] == before
    assert tree.is_loaded and not {*map(id, known)} & {*map(id, tree.nodes)}


def test_a_released_tree_leaves_out_the_same_data() -> None:
    tree = SourceTree("a.py", "TABLE = [\n" + "    [1, 2, 3],\n" * 100_000 + "]\n", collapse_data=True)
    nodes = len(tree.nodes)
    tree.release()

    assert tree.has_collapsed_data
    assert len(tree.nodes) == nodes < 1000


def test_children_are_those_of_ast_without_contexts():
    tree = ast.parse(
        "import a.b as c\nclass C(B, metaclass=M):\n    x: int = 1\n"
        "    @d\n    async def f(self, *a: T, k=2, **o) -> R:\n        global g\n"
        "        try:\n            await f(x=1)\n"
        "        except E as e:\n            del e[1:2, ...], e.y\n"
        "match p:\n    case P([1, *r], k=None) | {'a': q, **s} if q: z = f'{q!r:>{s}}'\n    case _ as w: pass\n"
        "lambda a, /, b=1: [y async for x in z if x for y in x] and not a < b <= -c\n"
    )
    for node in ast.walk(tree):
        expected = [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr_context)]
        assert children(node) == expected
    assert walk(tree) == [each for each in ast.walk(tree) if not isinstance(each, ast.expr_context)]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements are new in Python 3.12")
def test_the_name_of_a_type_alias_is_a_node():
    (stmt,) = ast.parse("type Pair = tuple[int, int]").body
    assert children(stmt) == list(ast.iter_child_nodes(stmt))


@pytest.mark.parametrize("text", ["'\\d'\n", "1if x else 2\n", "x is 1\n"])
def test_warnings_about_the_text_are_left_to_its_owner(text):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        assert SourceTree("a.py", text).tree.body

    assert given == []


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("torch.zeros((x.shape[0], 1)).to(device)", "torch.zeros(...).to(...)"),
        ("self.parts[0].weight.cuda()", "self.parts[...].weight.cuda()"),
        ("build(a=1)", "build(...)"),
        ("(a * b + 1).to('cpu')", "(...).to(...)"),
    ],
)
def test_an_outline_leaves_out_what_calls_get(text, short):
    assert outline(ast.parse(text, mode="eval").body) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("nn.Sequential(nn.Linear(4, 4))", "nn.Sequential(nn.Linear(4, 4))"),
        ("nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))", "nn.Sequential(...)"),
    ],
)
def test_a_message_names_a_long_expression_by_its_outline(text, short):
    assert short_text(ast.parse(text, mode="eval").body) == short
