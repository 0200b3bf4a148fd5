"""`rewrite` by example: where code goes, and that everything else stays."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from devfix.model import AddKeyword, AppendCode, Edit, InsertStatement, MoveStatements, ReplaceExpression, Span, Where
from devfix.rewrite import RewriteError, rewrite

IF_CUDA = "if args.cuda:\n    y = y.cuda()"


def at(text: str, piece: str, kind: type[ast.AST] = ast.AST) -> Span:
    """The span of the first node whose source begins with ``piece`` (``...`` at its end) or is ``piece``."""
    lines = re.split("\r\n|\r|\n", text)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, kind) or not isinstance(node, ast.stmt | ast.expr | ast.ExceptHandler):
            continue
        source = re.sub("\r\n?", "\n", ast.get_source_segment(text, node) or "")
        if source == piece or (piece.endswith("...") and source.startswith(piece[:-3])):
            start = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
            end = len(lines[node.end_lineno - 1].encode()[: node.end_col_offset].decode())
            return Span(node.lineno, start, node.end_lineno, end)
    raise LookupError(piece)


def insert(text: str, where: Where, anchor: str, code: str) -> Edit:
    return InsertStatement("", at(text, anchor, ast.stmt), where, code)


def move(text: str, moved: list[str], after: str) -> Edit:
    return MoveStatements("", tuple(at(text, one, ast.stmt) for one in moved), at(text, after, ast.stmt))


def append(text: str, expression: str, code: str = ".to(d)") -> Edit:
    return AppendCode("", at(text, expression, ast.expr), code)


def keyword(text: str, call: str, code: str = "k=v") -> Edit:
    name, _, value = code.partition("=")
    return AddKeyword("", at(text, call, ast.Call), name, value)


def replace(text: str, expression: str, code: str) -> Edit:
    return ReplaceExpression("", at(text, expression, ast.expr), code)


BEFORE = [
    pytest.param("x = 1\n", "x = 1", "n = 0\nx = 1\n", id="plain"),
    pytest.param("# about x\nx = 1\n", "x = 1", "n = 0\n# about x\nx = 1\n", id="own-comment"),
    pytest.param("# apart\n\nx = 1\n", "x = 1", "# apart\n\nn = 0\nx = 1\n", id="comment-apart"),
    pytest.param("a\n# p\n\n# q\n# r\nx\n", "x", "a\n# p\n\nn = 0\n# q\n# r\nx\n", id="two-comments"),
    pytest.param("a\n\n\nx\n", "x", "a\n\n\nn = 0\nx\n", id="below-blank-lines"),
    pytest.param("#!/bin/python\nx = 1\n", "x = 1", "#!/bin/python\nn = 0\nx = 1\n", id="shebang"),
    pytest.param("# coding: utf-8\nx = 1\n", "x = 1", "# coding: utf-8\nn = 0\nx = 1\n", id="coding-cookie"),
    pytest.param("# Copyright us\n# more\nx\n", "x", "# Copyright us\n# more\nn = 0\nx\n", id="licence"),
    pytest.param("a\n# %% cell\nx\n", "x", "a\n# %% cell\nn = 0\nx\n", id="notebook-cell"),
    pytest.param("@a\n@b\ndef f():\n    pass\n", "def f...", "n = 0\n@a\n@b\ndef f():\n    pass\n", id="decorators"),
    pytest.param(
        "a\n# f\n@a\n# g\ndef f(): pass\n",
        "def f...",
        "a\nn = 0\n# f\n@a\n# g\ndef f(): pass\n",
        id="decorator-comments",
    ),
    pytest.param("if a:\n  x\n", "x", "if a:\n  n = 0\n  x\n", id="indented"),
    pytest.param("if a:\n    # c\n    x\n", "x", "if a:\n    n = 0\n    # c\n    x\n", id="indented-comment"),
    pytest.param("a = 1; b = 2\n", "a = 1", "n = 0\na = 1; b = 2\n", id="semicolon-first"),
    pytest.param("a = 1; b = 2\n", "b = 2", "a = 1; n = 0; b = 2\n", id="semicolon-middle"),
    pytest.param("if a: x\n", "x", "if a: n = 0; x\n", id="one-line-suite"),
    pytest.param("if a: b\nelse: x; y\n", "y", "if a: b\nelse: x; n = 0; y\n", id="one-line-else"),
    pytest.param("\fx = 1\n", "x = 1", "n = 0\n\fx = 1\n", id="form-feed"),
    pytest.param("a\r\nx\r\n", "x", "a\r\nn = 0\r\nx\r\n", id="crlf"),
    pytest.param("a\r\nb\nx\n", "x", "a\r\nb\nn = 0\nx\n", id="mixed-newlines"),
    pytest.param("'ä'; x\n", "x", "'ä'; n = 0; x\n", id="code-points"),
]

AFTER = [
    pytest.param("x = 1\ny\n", "x = 1", "x = 1\nn = 0\ny\n", id="plain"),
    pytest.param("x  # c\n\n\ny\n", "x", "x  # c\nn = 0\n\n\ny\n", id="trailing-comment-and-blank-lines"),
    pytest.param("x", "x", "x\nn = 0", id="no-final-newline"),
    pytest.param("a\r\nx", "x", "a\r\nx\r\nn = 0", id="no-final-newline-crlf"),
    pytest.param("if a:\n    x", "x", "if a:\n    x\n    n = 0", id="no-final-newline-indented"),
    pytest.param("x  # c", "x", "x  # c\nn = 0", id="no-final-newline-comment"),
    pytest.param("x\n   ", "x", "x\nn = 0\n   ", id="trailing-spaces-at-end"),
    pytest.param("x\n \n   ", "x", "x\nn = 0\n \n   ", id="trailing-blank-lines-at-end"),
    pytest.param("x\n  # c\n  ", "x", "x\nn = 0\n  # c\n  ", id="indented-comment-at-end"),
    pytest.param("x\r", "x", "x\rn = 0\r", id="lone-carriage-return"),
    pytest.param("x\n# c", "x", "x\nn = 0\n# c", id="comment-at-end"),
    pytest.param("if a:\n    x\n    # foot\ny\n", "x", "if a:\n    x\n    n = 0\n    # foot\ny\n", id="above-footer"),
    pytest.param("if a:\n    x\n    # foot\ny\n", "if a...", "if a:\n    x\n    # foot\nn = 0\ny\n", id="below-footer"),
    pytest.param("if a:\n    x\n# d\ny\n", "if a...", "if a:\n    x\nn = 0\n# d\ny\n", id="above-next-comment"),
    pytest.param("f(\n    a,  # c\n)\ny\n", "f(...", "f(\n    a,  # c\n)\nn = 0\ny\n", id="multi-line"),
    pytest.param("x = '''\n# no\n'''\ny\n", "x = ...", "x = '''\n# no\n'''\nn = 0\ny\n", id="multi-line-string"),
    pytest.param("x = 1 \\\n\ny\n", "x = 1", "x = 1 \\\n\nn = 0\ny\n", id="backslash-at-end"),
    pytest.param("a; x\n", "x", "a; x\nn = 0\n", id="semicolon-last"),
    pytest.param("x; b  # c\n", "x", "x; n = 0; b  # c\n", id="semicolon-middle"),
    pytest.param("x;\n", "x", "x;\nn = 0\n", id="semicolon-at-end"),
    pytest.param("if a: x  # c\nb\n", "x", "if a: x; n = 0  # c\nb\n", id="one-line-suite"),
    pytest.param("if a: x;\nb\n", "x", "if a: x; n = 0;\nb\n", id="one-line-suite-semicolon"),
    pytest.param("if a: x", "x", "if a: x; n = 0", id="one-line-suite-at-end"),
    pytest.param("if a: x\n", "if a...", "if a: x\nn = 0\n", id="after-one-line-suite"),
    pytest.param("if a: x;\n", "if a...", "if a: x;\nn = 0\n", id="after-one-line-suite-semicolon"),
    pytest.param(
        "for a in b:\n\tif c:\n\t\tx\ny\n", "x", "for a in b:\n\tif c:\n\t\tx\n\t\tn = 0\ny\n", id="nested-with-tabs"
    ),
    pytest.param("try:\n  x\nexcept E:\n  y\n", "x", "try:\n  x\n  n = 0\nexcept E:\n  y\n", id="try-body"),
    pytest.param("try:\n  x\nexcept E:\n  y\n", "y", "try:\n  x\nexcept E:\n  y\n  n = 0\n", id="except-body"),
    pytest.param("if a:\n  b\nelif c:\n  x\n", "x", "if a:\n  b\nelif c:\n  x\n  n = 0\n", id="elif-body"),
    pytest.param("if a:\n  b\nelse:\n  x\nc\n", "x", "if a:\n  b\nelse:\n  x\n  n = 0\nc\n", id="else-body"),
    pytest.param("with a:\n  x\n", "x", "with a:\n  x\n  n = 0\n", id="with-body"),
    pytest.param(
        "match a:\n  case 1:\n    x\n    # c\n  # d\ny\n",
        "x",
        "match a:\n  case 1:\n    x\n    n = 0\n    # c\n  # d\ny\n",
        id="case-body",
    ),
    pytest.param(
        "match a:\n  case 1: x\n  # d\ny\n", "match a...", "match a:\n  case 1: x\n  # d\nn = 0\ny\n", id="match"
    ),
    pytest.param("class A:\n  x = 1\n\n  def f(self): pass\n", "x = 1", None, id="class-body"),
]

BODY_START = [
    pytest.param("for a in b:\n    x\n", "for...", "for a in b:\n    n = 0\n    x\n", id="for"),
    pytest.param(
        "for a in b:  # c\n    # d\n    x\n", "for...", "for a in b:  # c\n    n = 0\n    # d\n    x\n", id="comments"
    ),
    pytest.param("while a:\n\tx\nelse:\n\ty\n", "while...", "while a:\n\tn = 0\n\tx\nelse:\n\ty\n", id="while-else"),
    pytest.param("with a as b:\n  x\n", "with...", "with a as b:\n  n = 0\n  x\n", id="with"),
    pytest.param("if a:\n  b\nelif c:\n  x\n", "elif...", "if a:\n  b\nelif c:\n  n = 0\n  x\n", id="elif"),
    pytest.param("if a:\n  b\nelif c:\n  x\n", "if...", "if a:\n  n = 0\n  b\nelif c:\n  x\n", id="if"),
    pytest.param(
        "def f(\n    a,\n):\n    x\n", "def...", "def f(\n    a,\n):\n    n = 0\n    x\n", id="header-of-lines"
    ),
    pytest.param('def f():\n  """d"""\n  x\n', "def...", 'def f():\n  """d"""\n  n = 0\n  x\n', id="docstring"),
    pytest.param(
        'def f():\n  """d"""\n\n  # c\n  x\n',
        "def...",
        'def f():\n  """d"""\n\n  n = 0\n  # c\n  x\n',
        id="docstring-blank",
    ),
    pytest.param(
        'class A:\n  """d"""\n\n  def f(self): pass\n',
        "class...",
        'class A:\n  """d"""\n  n = 0\n\n  def f(self): pass\n',
        id="docstring-method",
    ),
    pytest.param('def f():\n  """d"""', "def...", 'def f():\n  """d"""\n  n = 0', id="only-docstring"),
    pytest.param('def f():\n  "d"; x\n', "def...", 'def f():\n  "d"; n = 0; x\n', id="docstring-semicolon"),
    pytest.param("def f():\n  b'd'\n  x\n", "def...", "def f():\n  n = 0\n  b'd'\n  x\n", id="bytes-no-docstring"),
    pytest.param("for a in b: x  # c\n", "for...", "for a in b:\n    n = 0\n    x  # c\n", id="one-line-suite"),
    pytest.param("for a in b: x;\n", "for...", "for a in b:\n    n = 0\n    x;\n", id="one-line-suite-semicolon"),
    pytest.param('def f(): "d"; x\n', "def...", 'def f():\n    "d"\n    n = 0\n    x\n', id="one-line-docstring"),
    pytest.param("if a:\n\twith b: x", "with...", "if a:\n\twith b:\n\t\tn = 0\n\t\tx", id="one-line-with-tabs"),
    pytest.param("@d\nasync def f():\n  await x\n", "async...", "@d\nasync def f():\n  n = 0\n  await x\n", id="async"),
]


@pytest.mark.parametrize(("text", "anchor", "expected"), BEFORE)
def test_insert_before(text: str, anchor: str, expected: str) -> None:
    assert rewrite(text, [insert(text, Where.BEFORE, anchor, "n = 0")]) == expected


@pytest.mark.parametrize(("text", "anchor", "expected"), AFTER)
def test_insert_after(text: str, anchor: str, expected: str | None) -> None:
    if expected is None:
        expected = "class A:\n  x = 1\n  n = 0\n\n  def f(self): pass\n"
    assert rewrite(text, [insert(text, Where.AFTER, anchor, "n = 0")]) == expected


@pytest.mark.parametrize(("text", "anchor", "expected"), BODY_START)
def test_insert_at_body_start(text: str, anchor: str, expected: str) -> None:
    kind = ast.If if anchor.startswith("elif") else ast.stmt
    edit = InsertStatement("", at(text, anchor, kind), Where.BODY_START, "n = 0")
    assert rewrite(text, [edit]) == expected


@pytest.mark.parametrize(
    ("text", "where", "anchor", "expected"),
    [
        pytest.param("x\n", Where.AFTER, "x", "x\nif args.cuda:\n    y = y.cuda()\n", id="no-unit-in-file"),
        pytest.param(
            "if a:\n\tx\n", Where.AFTER, "x", "if a:\n\tx\n\tif args.cuda:\n\t\ty = y.cuda()\n", id="takes-over-tabs"
        ),
        pytest.param(
            "if a:\n  b\nx\n",
            Where.BEFORE,
            "x",
            "if a:\n  b\nif args.cuda:\n  y = y.cuda()\nx\n",
            id="takes-over-two-spaces",
        ),
        pytest.param(
            "if a: x  # c\nb\n",
            Where.AFTER,
            "x",
            "if a:\n    x  # c\n    if args.cuda:\n        y = y.cuda()\nb\n",
            id="suite-after",
        ),
        pytest.param(
            "if a: b; x;  # c\n",
            Where.BEFORE,
            "x",
            "if a:\n    b\n    if args.cuda:\n        y = y.cuda()\n    x;  # c\n",
            id="suite-between",
        ),
        pytest.param(
            "if a: x\nelif b: c\n",
            Where.BEFORE,
            "x",
            "if a:\n    if args.cuda:\n        y = y.cuda()\n    x\nelif b: c\n",
            id="suite-before-elif",
        ),
        pytest.param(
            "match a:\n  case 1: x\n",
            Where.AFTER,
            "x",
            "match a:\n  case 1:\n    x\n    if args.cuda:\n      y = y.cuda()\n",
            id="suite-of-case",
        ),
        pytest.param(
            "if a:\n  b; x; c\n",
            Where.AFTER,
            "x",
            "if a:\n  b; x\n  if args.cuda:\n    y = y.cuda()\n  c\n",
            id="semicolons-split",
        ),
    ],
)
def test_insert_compound(text: str, where: Where, anchor: str, expected: str) -> None:
    assert rewrite(text, [insert(text, where, anchor, IF_CUDA)]) == expected


def test_strings_in_inserted_code_keep_their_indentation() -> None:
    code = 'if a:\n    s = """p\n    q"""\n    t = f(\n        1\n    )'
    text = "if b:\n\tx\n"
    expected = 'if b:\n\tx\n\tif a:\n\t\ts = """p\n    q"""\n\t\tt = f(\n\t\t\t1\n\t\t)\n'
    assert rewrite(text, [insert(text, Where.AFTER, "x", code)]) == expected


def test_edits_at_one_anchor_keep_their_order() -> None:
    text = "a\nx\nb\n"
    edits = [
        insert(text, Where.AFTER, "x", "p"),
        insert(text, Where.BEFORE, "x", "q"),
        insert(text, Where.AFTER, "x", "r"),
        insert(text, Where.BEFORE, "x", "s"),
        insert(text, Where.BEFORE, "b", "t"),
    ]
    assert rewrite(text, edits) == "a\nq\ns\nx\np\nr\nt\nb\n"


def test_after_inner_comes_before_after_outer() -> None:
    text = "if a:\n    if b:\n        x\n"
    edits = [
        insert(text, Where.AFTER, "if a...", "p"),
        insert(text, Where.AFTER, "x", "q"),
        insert(text, Where.AFTER, "if b...", "r"),
    ]
    assert rewrite(text, edits) == "if a:\n    if b:\n        x\n        q\n    r\np\n"


@pytest.mark.parametrize(
    ("text", "moved", "after", "expected"),
    [
        pytest.param("a\nb\nc\n", ["a"], "b", "b\na\nc\n", id="down"),
        pytest.param("a\nb\nc\n", ["c"], "a", "a\nc\nb\n", id="up"),
        pytest.param("a\nb\nc", ["a"], "c", "b\nc\na", id="to-end-without-newline"),
        pytest.param("a\nb\nc", ["c"], "a", "a\nc\nb", id="from-end-without-newline"),
        pytest.param("a\nb\nc\nd\n", ["c", "a"], "d", "b\nd\na\nc\n", id="keep-order"),
        pytest.param("a\nb\nc\n", ["b"], "a", "a\nb\nc\n", id="already-there"),
        pytest.param("z\n# on a\n# too\na  # t\nb\n", ["a"], "b", "z\nb\n# on a\n# too\na  # t\n", id="comments"),
        pytest.param("# apart\n\na\nb\n", ["a"], "b", "# apart\n\nb\na\n", id="comment-apart-stays"),
        pytest.param(
            "#!/bin/sh\n# Licence\na\nb\n", ["a"], "b", "#!/bin/sh\n# Licence\nb\na\n", id="file-header-stays"
        ),
        pytest.param("z\n\na\n\nb\n\nc\n", ["a"], "b", "z\n\nb\n\na\n\nc\n", id="paragraph-keeps-its-gap"),
        pytest.param("z\n\na\n\nb\nc\n", ["a"], "b", "z\n\nb\na\nc\n", id="no-room-for-a-gap"),
        pytest.param("z\n\na\nb\nc\n", ["a"], "b", "z\n\nb\na\nc\n", id="blank-line-above-stays"),
        pytest.param("z\na\n\nb\nc\n", ["a"], "b", "z\n\nb\na\nc\n", id="blank-line-below-stays"),
        pytest.param("a\n\nb\n\nc\n", ["a"], "b", "b\na\n\nc\n", id="first-of-file"),
        pytest.param("z\n\n\na\n\nb\nc\n", ["a"], "b", "z\n\n\nb\na\nc\n", id="larger-gap-stays"),
        pytest.param("a\n\nb\n\nc\n\n\nd\n", ["a", "b"], "c", "c\na\n\nb\n\n\nd\n", id="gap-inside-moves-along"),
        pytest.param("def f():\n    a\n\n    b\n\n\ng\n", ["b"], "a", None, id="already-there-in-function"),
        pytest.param(
            "def f():\n    z\n    a\n\n    b\n\n\ng\n",
            ["b"],
            "z",
            "def f():\n    z\n    b\n    a\n\n\ng\n",
            id="last-of-block",
        ),
        pytest.param(
            "if x:\n    a\n    b\n    # foot\n", ["a"], "b", "if x:\n    b\n    a\n    # foot\n", id="above-footer"
        ),
        pytest.param(
            "if x:\n    a\n    # foot\nb\n", ["if x..."], "b", "b\nif x:\n    a\n    # foot\n", id="footer-inside"
        ),
        pytest.param("if x:\n\ta\n\t\nb\n\nc\n", ["if x..."], "b", "b\nif x:\n\ta\n\nc\n", id="blank-line-with-tab"),
        pytest.param("a; b\nc\n", ["a"], "c", "b\nc\na\n", id="from-semicolon-first"),
        pytest.param("a; b  # t\nc\n", ["b"], "c", "a  # t\nc\nb\n", id="from-semicolon-last"),
        pytest.param("a; b; c\nd\n", ["b"], "d", "a; c\nd\nb\n", id="from-semicolon-middle"),
        pytest.param("a; b\nc\n", ["a", "b"], "c", "c\na; b\n", id="whole-semicolon-line"),
        pytest.param("a; b\n", ["a"], "b", "b\na\n", id="inside-semicolon-line"),
        pytest.param("a\nb; c\n", ["a"], "b", "b\na\nc\n", id="to-semicolon-middle"),
        pytest.param(
            "if x:\n  if a: b\n  c; d\n", ["if a..."], "c", "if x:\n  c\n  if a: b\n  d\n", id="compound-to-semicolon"
        ),
        pytest.param("if x: a; b\n", ["a"], "b", "if x: b; a\n", id="one-line-suite"),
        pytest.param("@d\ndef f(): pass\na\n", ["def f..."], "a", "a\n@d\ndef f(): pass\n", id="decorators"),
        pytest.param("if x:\r\n\ta\r\n\tb\r\n", ["a"], "b", "if x:\r\n\tb\r\n\ta\r\n", id="crlf-tabs"),
    ],
)
def test_move(text: str, moved: list[str], after: str, expected: str | None) -> None:
    assert rewrite(text, [move(text, moved, after)]) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "expression", "expected"),
    [
        pytest.param("f(x)\n", "x", "f(x.to(d))\n", id="name"),
        pytest.param("x = a.b\n", "a.b", "x = a.b.to(d)\n", id="attribute"),
        pytest.param("x = a.b\n", "a", "x = a.to(d).b\n", id="inside-attribute"),
        pytest.param("x = f(a)\n", "f(a)", "x = f(a).to(d)\n", id="call"),
        pytest.param("x = a[0]\n", "a[0]", "x = a[0].to(d)\n", id="subscript"),
        pytest.param("x = [1]\n", "[1]", "x = [1].to(d)\n", id="list"),
        pytest.param("x = (a)\n", "a", "x = (a).to(d)\n", id="name-in-parentheses"),
        pytest.param("x = a + b\n", "a + b", "x = (a + b).to(d)\n", id="sum"),
        pytest.param("x = (a + b)\n", "a + b", "x = (a + b).to(d)\n", id="sum-in-parentheses"),
        pytest.param("x = (a) + b\n", "(a) + b", "x = ((a) + b).to(d)\n", id="sum-of-parentheses"),
        pytest.param("x = a + b\n", "b", "x = a + b.to(d)\n", id="right-operand"),
        pytest.param("x = -a\n", "-a", "x = (-a).to(d)\n", id="unary"),
        pytest.param("return_ = not a\n", "not a", "return_ = (not a).to(d)\n", id="not"),
        pytest.param("x = a if b else c\n", "a if b else c", "x = (a if b else c).to(d)\n", id="ternary"),
        pytest.param("x = lambda: 0\n", "lambda: 0", "x = (lambda: 0).to(d)\n", id="lambda"),
        pytest.param("x = a < b\n", "a < b", "x = (a < b).to(d)\n", id="comparison"),
        pytest.param("x = a or b\n", "a or b", "x = (a or b).to(d)\n", id="boolean"),
        pytest.param("x = 1\n", "1", "x = (1).to(d)\n", id="number"),
        pytest.param("f((x := 1))\n", "x := 1", "f((x := 1).to(d))\n", id="walrus"),
        pytest.param("if x := 1: y\n", "x := 1", "if (x := 1).to(d): y\n", id="bare-walrus"),
        pytest.param("f(*a + b)\n", "a + b", "f(*(a + b).to(d))\n", id="star-argument"),
        pytest.param("f(*a)\n", "a", "f(*a.to(d))\n", id="star-name"),
        pytest.param("x = a, b\n", "a, b", "x = (a, b).to(d)\n", id="bare-tuple"),
        pytest.param("x = (a, b)\n", "(a, b)", "x = (a, b).to(d)\n", id="tuple"),
        pytest.param("f(x for x in y)\n", "(x for x in y)", "f((x for x in y).to(d))\n", id="bare-generator"),
        pytest.param("x = (x for x in y)\n", "(x for x in y)", "x = (x for x in y).to(d)\n", id="generator"),
        pytest.param("x = 'a' 'b'\n", "'a' 'b'", "x = ('a' 'b').to(d)\n", id="strings"),
        pytest.param("x = f'{a}'\n", "a", "x = f'{a.to(d)}'\n", id="in-f-string"),
        pytest.param("x = a + \\\n  b\n", "a...", "x = (a + \\\n  b).to(d)\n", id="backslash"),
        pytest.param(
            "async def f():\n  x = await a\n", "await a", "async def f():\n  x = (await a).to(d)\n", id="await"
        ),
    ],
)
def test_append(text: str, expression: str, expected: str) -> None:
    assert rewrite(text, [append(text, expression)]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("f()", "f(k=v)", id="no-arguments"),
        pytest.param("f(  )", "f(k=v)", id="spaces"),
        pytest.param("f(\n)", "f(k=v)", id="empty-lines"),
        pytest.param("f(  # c\n)", "f(  # c\n    k=v,\n)", id="only-comment"),
        pytest.param("f(a)", "f(a, k=v)", id="one"),
        pytest.param("f(a,)", "f(a, k=v,)", id="trailing-comma"),
        pytest.param("f(a, )", "f(a, k=v, )", id="trailing-comma-space"),
        pytest.param("f(a, b=c)", "f(a, b=c, k=v)", id="keyword"),
        pytest.param("f(*a)", "f(*a, k=v)", id="star"),
        pytest.param("f(**m)", "f(k=v, **m)", id="mapping"),
        pytest.param("f(a, **m)", "f(a, k=v, **m)", id="after-argument-before-mapping"),
        pytest.param("f(**m, a=b)", "f(k=v, **m, a=b)", id="mapping-first"),
        pytest.param("f(x for x in y)", "f((x for x in y), k=v)", id="generator"),
        pytest.param("f((x for x in y))", "f((x for x in y), k=v)", id="generator-in-parentheses"),
        pytest.param("f (a)", "f (a, k=v)", id="space-before-parenthesis"),
        pytest.param("f(a)(b)", "f(a)(b, k=v)", id="call-of-call"),
        pytest.param("f((a))", "f((a), k=v)", id="argument-in-parentheses"),
        pytest.param("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    k=v\n)", id="lines"),
        pytest.param("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    k=v,\n)", id="lines-trailing-comma"),
        pytest.param("f(\n\ta,\n\tb  # c\n)", "f(\n\ta,\n\tb,  # c\n\tk=v\n)", id="lines-comment"),
        pytest.param("f(\n  a,\n  b,  # c\n  # d\n)", "f(\n  a,\n  b,  # c\n  k=v,\n  # d\n)", id="lines-comments"),
        pytest.param("f(a,\n  b)", "f(a,\n  b,\n  k=v)", id="aligned"),
        pytest.param("f(a,\n  b,)", "f(a,\n  b,\n  k=v,)", id="aligned-trailing-comma"),
        pytest.param("f(\n    a\n)", "f(\n    a,\n    k=v\n)", id="one-on-a-line"),
        pytest.param("f(\n    a, b\n)", "f(\n    a, b, k=v\n)", id="filled"),
        pytest.param("f(\n    a, b,  # c\n)", "f(\n    a, b, k=v,  # c\n)", id="filled-trailing-comma"),
        pytest.param("f(a\n  , b\n  )", "f(a\n  , b, k=v\n  )", id="comma-first"),
        pytest.param("f(\n    a,\n    **m,\n)", "f(\n    a,\n    k=v,\n    **m,\n)", id="lines-mapping"),
        pytest.param("f(\r\n  a,\r\n)", "f(\r\n  a,\r\n  k=v,\r\n)", id="crlf"),
        pytest.param("f(a,\n  g(\n    b\n  ))", "f(a,\n  g(\n    b\n  ),\n  k=v)", id="last-over-lines"),
    ],
)
def test_add_keyword(text: str, expected: str) -> None:
    text, expected = f"x = {text}\n", f"x = {expected}\n"
    assert rewrite(text, [AddKeyword("", at(text, "f...", ast.Call), "k", "v")]) == expected


def test_keywords_of_one_call_keep_their_order() -> None:
    text = "f(\n    a,\n    b\n)\ng()\n"
    edits = [
        keyword(text, "f(...", "k=1"),
        keyword(text, "g()", "k=1"),
        keyword(text, "f(...", "l=2"),
        keyword(text, "g()", "l=2"),
    ]
    assert rewrite(text, edits) == "f(\n    a,\n    b,\n    k=1,\n    l=2\n)\ng(k=1, l=2)\n"


@pytest.mark.parametrize(
    ("text", "expression", "code", "expected"),
    [
        pytest.param("x = 'cuda'\n", "'cuda'", "device", "x = device\n", id="name"),
        pytest.param("x = a\n", "a", "b if c else d", "x = b if c else d\n", id="ternary"),
        pytest.param("x = a.b\n", "a", "b or c", "x = (b or c).b\n", id="before-attribute"),
        pytest.param("x = a * b\n", "a", "c + d", "x = (c + d) * b\n", id="in-product"),
        pytest.param("x = a + b\n", "a", "c * d", "x = c * d + b\n", id="in-sum"),
        pytest.param("x = (a)\n", "a", "c + d", "x = (c + d)\n", id="in-parentheses"),
        pytest.param("f(a)\n", "a", "b, c", "f((b, c))\n", id="tuple-as-argument"),
        pytest.param("x = a\n", "a", "b, c", "x = b, c\n", id="tuple"),
        pytest.param("x = a.b\n", "a", "1", "x = (1).b\n", id="number-before-attribute"),
        pytest.param("def f():\n  return-x\n", "-x", "y", "def f():\n  return y\n", id="no-space-left"),
        pytest.param("x = [0]if a else b\n", "[0]", "y", "x = y if a else b\n", id="no-space-right"),
        pytest.param("x = f'{a}'\n", "a", "{1: 2}", "x = f'{ {1: 2}}'\n", id="brace-in-f-string"),
        pytest.param("f(x for x in y)\n", "(x for x in y)", "z", "f(z)\n", id="bare-generator"),
        pytest.param("f(x for x in y)\n", "(x for x in y)", "z, w", "f((z, w))\n", id="bare-generator-by-tuple"),
        pytest.param("x = (a, b)\n", "(a, b)", "c", "x = c\n", id="own-parentheses-of-tuple"),
    ],
)
def test_replace(text: str, expression: str, code: str, expected: str) -> None:
    assert rewrite(text, [replace(text, expression, code)]) == expected


def test_edits_inside_each_other_compose() -> None:
    text = "opt = A(\n    f(p),\n)  # t\nmodel = B()\nx = a + b\n"
    edits = [
        move(text, ["opt = A(..."], "model = B()"),
        keyword(text, "A(..."),
        append(text, "f(p)"),
        append(text, "p"),
        keyword(text, "f(p)"),
        append(text, "a + b"),
        append(text, "b"),
        insert(text, Where.AFTER, "opt = A(...", "n"),
        insert(text, Where.BEFORE, "opt = A(...", "m"),
    ]
    assert rewrite(text, edits) == (
        "model = B()\nm\nopt = A(\n    f(p.to(d), k=v).to(d),\n    k=v,\n)  # t\nn\nx = (a + b.to(d)).to(d)\n"
    )


def test_statements_moved_from_semicolons_carry_their_edits() -> None:
    text = "if x: a = f(p); b; c\n"
    edits = [move(text, ["a = f(p)"], "b"), append(text, "p"), insert(text, Where.BEFORE, "c", "n")]
    assert rewrite(text, edits) == "if x: b; a = f(p.to(d)); n; c\n"


NO_EDIT = [
    pytest.param("x\n", lambda _: InsertStatement("", Span(9, 0, 9, 1), Where.AFTER, "n"), "there is no", id="beyond"),
    pytest.param(
        "x + y\n", lambda _: InsertStatement("", Span(1, 0, 1, 1), Where.AFTER, "n"), "no statement", id="inside"
    ),
    pytest.param(
        "x\n", lambda t: InsertStatement("", at(t, "x", ast.stmt), Where.BODY_START, "n"), "body", id="no-body"
    ),
    pytest.param(
        "if a:\n  b\nelif c:\n  d\n", lambda t: insert(t, Where.AFTER, "elif...", "n"), "no statement", id="elif"
    ),
    pytest.param("x\n", lambda t: insert(t, Where.AFTER, "x", "n ="), "does not parse", id="broken-code"),
    pytest.param("x\n", lambda t: insert(t, Where.AFTER, "x", "  n"), "does not parse", id="indented-code"),
    pytest.param("x\n", lambda t: insert(t, Where.AFTER, "x", "# n"), "no statement in", id="only-a-comment"),
    pytest.param("x\n", lambda t: insert(t, Where.AFTER, "x", "return n"), "does not compile", id="return-outside"),
    pytest.param(
        "'d'\nfrom __future__ import annotations\n",
        lambda t: insert(t, Where.AFTER, "'d'", "n"),
        "does not compile",
        id="future",
    ),
    pytest.param("a\nif b:\n  c\n", lambda t: move(t, ["c"], "a"), "within their block", id="other-block"),
    pytest.param("a\nb\n", lambda t: move(t, ["a", "b"], "b"), "after itself", id="after-itself"),
    pytest.param("f(a)\n", lambda _: AppendCode("", Span(1, 2, 1, 4), ".b"), "no expression", id="no-expression"),
    pytest.param("f(*a)\n", lambda _: AppendCode("", Span(1, 2, 1, 4), ".b"), "no expression", id="starred"),
    pytest.param("a = 1\n", lambda t: append(t, "a"), "does not compile", id="target"),
    pytest.param("f(a)\n", lambda t: append(t, "a", " + b"), "cannot be appended", id="no-trailer"),
    pytest.param("f(a)\n", lambda t: append(t, "a", ".b  # c"), "cannot be appended", id="comment-as-trailer"),
    pytest.param("f(a)\n", lambda t: append(t, "a", ").b("), "does not parse", id="unbalanced-trailer"),
    pytest.param("f(k=1)\n", lambda t: keyword(t, "f(k=1)"), "already has k=", id="keyword-given"),
    pytest.param("f()\n", lambda t: keyword(t, "f()", "k=1, l=2"), "not a keyword", id="two-values"),
    pytest.param("f()\n", lambda t: keyword(t, "f()", "k="), "does not parse", id="no-value"),
    pytest.param("f(a)\n", lambda t: AddKeyword("", at(t, "a", ast.expr), "k", "v"), "no call", id="no-call"),
    pytest.param("f(a)\n", lambda t: replace(t, "a", "b c"), "does not parse", id="broken-replacement"),
    pytest.param("f'{a}'\n", lambda t: append(t, "a", ".to('d')"), "f-string", id="quotes-in-f-string"),
    pytest.param("\\\nx = 1\n", lambda t: insert(t, Where.AFTER, "x = 1", "n"), "reproduce", id="not-reproduced"),
    pytest.param(
        "x = " + "-" * 90 + "1\nprint x\n",
        lambda _: AppendCode("", Span(1, 0, 1, 1), ".b"),
        "LibCST cannot parse the file near line",
        id="python-2",
    ),
]


@pytest.mark.parametrize(("text", "edit", "reason"), NO_EDIT)
def test_what_cannot_be_written_says_why_in_one_line(text: str, edit, reason: str) -> None:
    with pytest.raises(RewriteError, match=reason) as caught:
        rewrite(text, [edit(text)])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(lambda t: [replace(t, "b", "p"), replace(t, "b", "q")], id="same-expression"),
        pytest.param(lambda t: [replace(t, "f(b)", "p"), replace(t, "b", "q")], id="inside-replaced"),
        pytest.param(lambda t: [replace(t, "b", "p"), append(t, "b")], id="replaced-and-appended"),
        pytest.param(lambda t: [replace(t, "f(b)", "p"), keyword(t, "f(b)")], id="replaced-and-keyword"),
        pytest.param(lambda t: [move(t, ["a = f(b)"], "c"), move(t, ["a = f(b)"], "d")], id="moved-twice"),
        pytest.param(lambda t: [move(t, ["a = f(b)"], "c"), move(t, ["c"], "a = f(b)")], id="moved-around"),
        pytest.param(lambda t: [move(t, ["a = f(b)"], "d"), move(t, ["d"], "a = f(b)")], id="moved-around-each-other"),
    ],
)
def test_overlapping_edits_are_refused(edits) -> None:
    text = "a = f(b)\nc\nd\n"
    with pytest.raises(RewriteError, match=r"overlap|two edits"):
        rewrite(text, edits(text))


def test_too_deep_nesting_is_refused() -> None:
    text = "x = 1\ny = " + "'a' " * 3000 + "\n"
    with pytest.raises(RewriteError, match="too deeply"):
        rewrite(text, [InsertStatement("", Span(1, 0, 1, 5), Where.AFTER, "n")])


def test_a_file_that_does_not_compile_can_still_be_edited() -> None:
    text = "x = 1\nreturn x\n"
    assert rewrite(text, [insert(text, Where.AFTER, "x = 1", "n")]) == "x = 1\nn\nreturn x\n"


@pytest.mark.parametrize("text", ["", "\n", "x = 1", "\f\r\n# c"])
def test_no_edits_change_nothing(text: str) -> None:
    assert rewrite(text, []) is text


def test_codemods_import_without_libcst() -> None:
    code = "import codemods, sys; sys.exit('libcst' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
