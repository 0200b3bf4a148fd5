"""What always holds for `rewrite`, on generated programs with odd layout.

The oracle makes the same edits on the ``ast``, independent of any text: a rewritten text must parse to its tree.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from devfix.model import AddKeyword, AppendCode, Edit, InsertStatement, MoveStatements, ReplaceExpression, Span, Where
from devfix.rewrite import RewriteError, rewrite

settings.register_profile("rewrite", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
ENOUGH = settings(settings.get_profile("rewrite"))

# The oracle


def span_of(text: str, node: ast.stmt | ast.expr) -> Span:
    """The span of a node as the analysis gives it: columns in code points."""
    lines = re.split("\r\n|\r|\n", text)

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode())

    return Span(
        node.lineno,
        column(node.lineno, node.col_offset),
        node.end_lineno,
        column(node.end_lineno, node.end_col_offset),
    )


class Oracle(ast.NodeTransformer):
    """Makes edits on a tree."""

    def __init__(self, text: str, edits: list[Edit]) -> None:
        self.tree = ast.parse(text)
        self.before: dict[Span, list[ast.stmt]] = {}
        self.after: dict[Span, list[ast.stmt]] = {}
        self.first: dict[Span, list[ast.stmt]] = {}
        self.expressions: dict[Span, list[Edit]] = {}
        self.moved: set[Span] = set()
        self.spans = {
            node: span_of(text, node) for node in ast.walk(self.tree) if isinstance(node, ast.stmt | ast.expr)
        }
        statements = {span: node for node, span in self.spans.items() if isinstance(node, ast.stmt)}
        for edit in edits:
            if isinstance(edit, InsertStatement):
                places = {Where.BEFORE: self.before, Where.AFTER: self.after, Where.BODY_START: self.first}
                places[edit.where].setdefault(edit.anchor, []).extend(ast.parse(edit.code).body)
            elif isinstance(edit, MoveStatements):
                self.moved.update(edit.statements)
                self.after.setdefault(edit.after, []).extend(statements[span] for span in sorted(edit.statements))
            else:
                span = edit.call if isinstance(edit, AddKeyword) else edit.expression
                self.expressions.setdefault(span, []).append(edit)

    def dump(self) -> str:
        """What the edited program means."""
        return dump(self.visit(self.tree))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        spans = {id(child): self.spans.get(child) for child in ast.iter_child_nodes(node)}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, list(self.block(node, name, value)))
            elif isinstance(value, list):
                value[:] = [self.child(child, spans) if isinstance(child, ast.AST) else child for child in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.child(value, spans))
        return node

    def block(self, owner: ast.AST, name: str, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        first = self.first.get(self.spans.get(owner), []) if name == "body" else []
        documented = (
            isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and ast.get_docstring(owner) is not None
        )
        for index, statement in enumerate(body):
            if index == int(documented):
                yield from first
            yield from self.statement(statement)
        if documented and len(body) == 1:
            yield from first

    def statement(self, node: ast.stmt, *, carried: bool = False) -> Iterator[ast.stmt]:
        """A statement with what is inserted around it; a moved one only where it goes to."""
        span = self.spans.get(node)
        if span in self.moved and not carried:
            return
        yield from self.before.get(span, [])
        yield self.visit(node)
        for other in self.after.get(span, []):
            yield from self.statement(other, carried=True) if other in self.spans else [other]

    def child(self, node: ast.AST, spans: dict[int, Span | None]) -> ast.AST:
        span = spans[id(node)]
        visited = self.visit(node)
        if not isinstance(node, ast.expr):
            return visited
        for edit in sorted(self.expressions.get(span, []), key=lambda edit: not isinstance(edit, AddKeyword)):
            if isinstance(edit, AppendCode):
                visited = _Substitute(visited).visit(ast.parse("_" + edit.code, mode="eval").body)
            elif isinstance(edit, ReplaceExpression):
                visited = ast.parse(edit.code, mode="eval").body
            elif isinstance(visited, ast.Call):
                place = next((i for i, word in enumerate(visited.keywords) if word.arg is None), len(visited.keywords))
                visited.keywords.insert(place, ast.keyword(edit.keyword, ast.parse(edit.value, mode="eval").body))
        return visited


class _Substitute(ast.NodeTransformer):
    def __init__(self, replacement: ast.AST) -> None:
        self.replacement = replacement

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.replacement if node.id == "_" else node


def dump(tree: ast.AST) -> str:
    """What a tree means: no positions, and loads and stores alike."""
    return re.sub(r"ctx=(?:Load|Store|Del)\(\)", "", ast.dump(tree))


# Programs

NAMES = st.sampled_from(["x", "model", "ä", "batch"])
EXPRESSIONS = st.recursive(
    st.one_of(NAMES, st.sampled_from(["1", "'s'", "'é'", "[]", "a.b", "a[0]", "(yy, z)", "(a)"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "-", " and ", "<", "if c else"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("( {} )".format),
        inner.map("-{}".format),
        inner.map("[{}]".format),
        inner.map("f({})".format),
        inner.map("f({}, )".format),
        inner.map("f(*a, k={}, **m)".format),
        inner.map("f({} for i in y)".format),
        inner.map("f(\n    {},  # é\n    b\n)".format),
        inner.map("f(a,\n  {},)".format),
        inner.map("g(\n  # c\n  {}\n  # d\n)".format),
    ),
    max_leaves=4,
)
SMALL = st.one_of(
    EXPRESSIONS.map("x = {}".format),
    EXPRESSIONS.map("x: int = {}".format),
    EXPRESSIONS.map("y.z[0] += {}".format),
    EXPRESSIONS,
    st.sampled_from(
        ["pass", "import os", "a = b = c", "s = '''\n# no comment\n  '''", "del q", "b = 1 \\\n + 2", "(p)"]
    ),
)
TRAILING = st.sampled_from(["", "", "", "  # c", "   ", ";", " ; # ä"])
ROWS = st.tuples(st.lists(SMALL, min_size=1, max_size=3), st.sampled_from(["; ", ";", " ;  "]), TRAILING).map(
    lambda row: row[1].join(row[0]) + row[2]
)
ABOVE = st.lists(st.sampled_from(["", "   ", "# c", "#!d", "# Copyright", "\f", "\t"]), max_size=3)
HEADERS = st.sampled_from(
    [
        "if x:",
        "for a in b:",
        "while x :",
        "with a as b, c:",
        "def f(a, b=1):",
        "class A:",
        "if x:  # h",
        "async def g():",
    ]
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """Lines of a block, without the indentation that its place gives them."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(ABOVE)
        kind = draw(st.integers(0, 4 if depth else 1))
        if kind < 3:
            lines += _whole(draw(ROWS))
            continue
        header = draw(HEADERS)
        if header.startswith(("def", "class", "async")) and draw(st.booleans()):
            lines += ["@deco", *draw(st.sampled_from([[], ["# between"]]))]
        if kind == 3 and not header.endswith("h"):
            lines += _whole(f"{header} {draw(ROWS)}")
            continue
        unit = draw(st.sampled_from(["    ", "\t", "  "]))
        lines.append(header)
        if draw(st.booleans()):
            lines.append(unit + '"""doc"""')
        lines += [unit + line if line.strip() else line for line in draw(blocks(depth - 1))]
        lines += draw(st.sampled_from([[], [unit + "# foot"], ["", unit + "# foot", ""]]))
        if header.startswith(("if", "for")) and draw(st.booleans()):
            lines += draw(st.sampled_from([["else: e"], ["else:  # c", "  # d", "  e; e2"]]))
    return lines


def _whole(row: str) -> list[str]:
    """A row over several lines; its strings must not be indented, so those get no line of their own."""
    return row.split("\n")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a program with odd layout that parses."""
    newlines = draw(st.sampled_from([["\n"], ["\n"], ["\r\n"], ["\r\n", "\n"], ["\n", "\r"]]))
    lines = draw(blocks())
    text = "".join(line + draw(st.sampled_from(newlines)) for line in lines)
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    assume(_parses(text))
    return text


def _parses(text: str) -> bool:
    try:
        return bool(ast.parse(text).body)
    except SyntaxError:
        return False


def statements_of(text: str) -> list[ast.stmt]:
    """Statements that have a place of their own: not ``elif``, which `programs` does not make."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]


def expressions_of(text: str) -> list[ast.expr]:
    """Expressions that can be changed without changing what they are part of."""
    tree = ast.parse(text)
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and not isinstance(node, ast.Starred)
    ]


CODE = st.sampled_from(["new = 1", "if args.cuda:\n    new = new.cuda()", "new = f(\n    1,\n)", "new = 1; newer = 2"])


@st.composite
def insertions(draw: st.DrawFn, text: str) -> InsertStatement:
    node = draw(st.sampled_from(statements_of(text)))
    where = draw(st.sampled_from(list(Where)))
    if where is Where.BODY_START and not hasattr(node, "body"):
        where = Where.AFTER
    assume(not (where is Where.AFTER and is_docstring(node)))  # as good as the body's start, in any order
    return InsertStatement("", span_of(text, node), where, draw(CODE))


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value == "doc"


@st.composite
def moves(draw: st.DrawFn, text: str) -> MoveStatements:
    bodies = [
        body
        for node in ast.walk(ast.parse(text))
        for name in ("body", "orelse")
        if isinstance(body := getattr(node, name, None), list) and len(body) > 1
    ]
    assume(bodies)
    after, *moved = nodes = draw(st.lists(st.sampled_from(draw(st.sampled_from(bodies))), min_size=2, unique=True))
    assume(not any(is_docstring(node) for node in nodes))
    return MoveStatements("", tuple(span_of(text, node) for node in moved), span_of(text, after))


@st.composite
def expression_edits(draw: st.DrawFn, text: str) -> AppendCode | AddKeyword | ReplaceExpression:
    nodes = expressions_of(text)
    assume(nodes)
    node = draw(st.sampled_from(nodes))
    kind = draw(st.integers(0, 2))
    if kind == 0 and isinstance(node, ast.Call):
        return AddKeyword("", span_of(text, node), draw(st.sampled_from(["kw", "kw2"])), "v")
    if kind == 1:
        code = draw(st.sampled_from(["q", "q + r", "q if r else s", "q, r", "lambda: q", "'t'", "2", "-q", "not q"]))
        return ReplaceExpression("", span_of(text, node), code)
    return AppendCode("", span_of(text, node), ".to(d)")


# What holds


def comments_of(text: str) -> list[str]:
    """All comments, sorted."""
    tokens = tokenize.generate_tokens(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n")).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def lines_of(text: str) -> list[str]:
    return re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


def row_of(text: str, span: Span) -> tuple[int, int]:
    """First and last line of all statements that share lines with the one at ``span``."""
    first, last = span.line, span.end_line
    small = [node for node in statements_of(text) if not hasattr(node, "body")]
    while True:
        sharing = [node for node in small if node.lineno <= last and node.end_lineno >= first]
        wider = min([first, *(node.lineno for node in sharing)]), max([last, *(node.end_lineno for node in sharing)])
        if wider == (first, last):
            return wider
        first, last = wider


@ENOUGH
@given(st.data())
def test_an_insertion_means_what_it_says_and_touches_no_other_line(data: st.DataObject) -> None:
    text = data.draw(programs())
    edit = data.draw(insertions(text))
    result = rewrite(text, [edit])
    assert dump(ast.parse(result)) == Oracle(text, [edit]).dump()
    old, new = lines_of(text), lines_of(result)
    first, last = row_of(text, edit.anchor)
    elsewhere = Counter(line for number, line in enumerate(old[:-1], 1) if not first <= number <= last)
    assert not elsewhere - Counter(new)  # but for the very last line, which may have been given its end
    assert comments_of(result) == comments_of(text)


@ENOUGH
@given(st.data())
def test_an_insertion_between_lines_is_undone_by_taking_its_lines_away(data: st.DataObject) -> None:
    text = data.draw(programs())
    edit = data.draw(insertions(text))
    result = rewrite(text, [edit])
    old, new = ([line.rstrip("\r\n") for line in lines_of(one)] for one in (text, result))
    added = [line for line in new if "new" in line or "args.cuda" in line or line.strip() in {"1,", ")"}]
    assume(all(line.lstrip().startswith(("new", "if args", "1,", ")")) for line in added))
    assume(len(new) - len(old) == edit.code.count("\n") + 1)
    place = next(index for index in range(len(new)) if old[index : index + 1] != new[index : index + 1])
    count = len(new) - len(old)
    assert any(new[:start] + new[start + count :] == old for start in range(max(place - count, 0), place + 1))


@ENOUGH
@given(st.data())
def test_a_move_means_what_it_says_and_keeps_lines_and_gaps(data: st.DataObject) -> None:
    text = data.draw(programs())
    edit = data.draw(moves(text))
    result = rewrite(text, [edit])
    assert dump(ast.parse(result)) == Oracle(text, [edit]).dump()
    assert comments_of(result) == comments_of(text)
    assert longest_gap(result) <= longest_gap(text)
    if ";" not in text and ": " not in text:
        words = [line.strip() for line in lines_of(text) if line.strip()]
        assert sorted(words) == sorted(line.strip() for line in lines_of(result) if line.strip())


def longest_gap(text: str) -> int:
    """Length of the longest run of blank lines."""
    longest = current = 0
    for line in lines_of(text):
        current = 0 if line.strip() else current + 1
        longest = max(longest, current)
    return longest


@ENOUGH
@given(st.data())
def test_an_expression_edit_means_what_it_says(data: st.DataObject) -> None:
    text = data.draw(programs())
    edit = data.draw(expression_edits(text))
    try:
        result = rewrite(text, [edit])
    except RewriteError as error:
        assume(not re.search("does not compile|to a copy", str(error)))  # a literal as a target, a call in `del`
        raise
    assert dump(ast.parse(result)) == Oracle(text, [edit]).dump()


@ENOUGH
@given(st.data())
def test_edits_together_mean_what_they_say_or_are_refused(data: st.DataObject) -> None:
    text = data.draw(programs())
    edits: list[Edit] = data.draw(st.lists(st.one_of(insertions(text), expression_edits(text)), min_size=2, max_size=5))
    if data.draw(st.booleans()):
        edits.append(data.draw(moves(text)))
    try:
        result = rewrite(text, edits)
    except RewriteError as error:
        assume(not re.search("overlap|two edits|already|compile|to a copy", str(error)))
        raise
    assert dump(ast.parse(result)) == Oracle(text, edits).dump()
