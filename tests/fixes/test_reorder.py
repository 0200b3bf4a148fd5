"""Dependencies between statements, and the statements that must move together."""

from __future__ import annotations

import ast

import pytest
from small_programs import statement_of

from devfix.fixes.reorder import common_block, dependents, independent, reach, shown, touches
from devfix.syntax.tree import SourceTree


@pytest.mark.parametrize(
    ("statement", "reads", "writes"),
    [
        pytest.param("x = f(y)", {"f", "y"}, {"x"}, id="assignment"),
        pytest.param("self.a.b = self.c", {"self", "self.a", "self.c"}, {"self.a.b"}, id="attributes"),
        pytest.param("table[key] = x", {"table", "key", "x"}, {"table"}, id="item"),
        pytest.param("y = [i for i in x]", {"i", "x"}, {"y"}, id="comprehension"),
        pytest.param("f = lambda a: a + b", {"a", "b"}, {"f"}, id="lambda"),
        pytest.param("import os.path as p, sys", set(), {"p", "sys"}, id="import"),
        pytest.param("def f():\n    pass", set(), {"f"}, id="function"),
        pytest.param("pass", set(), set(), id="nothing"),
    ],
)
def test_a_statement_reads_and_writes_names(statement, reads, writes):
    tree = SourceTree("t.py", statement)
    found = reach(tree, tree.tree.body[0])

    assert (found.reads, found.writes) == (reads, writes)


@pytest.mark.parametrize(("call", "may_read"), [("self.load(path)", True), ("self.train()", False)])
def test_an_inherited_method_may_read_any_attribute(call, may_read):
    tree = SourceTree("t.py", f"class T(Base):\n    def start(self, path):\n        {call}\n")
    found = reach(tree, statement_of(tree, call))

    assert touches(found.reads, {"self.optim"}) is may_read
    assert not touches(found.reads, {"optim"})


def test_a_call_of_a_method_reaches_the_attributes_that_the_method_uses():
    tree = SourceTree(
        "t.py",
        "class T:\n    def start(self):\n        self.build()\n\n"
        "    def build(self):\n        self.opt = make(self.net)\n",
    )
    found = reach(tree, statement_of(tree, "self.build()"))

    assert "self.opt" in found.writes
    assert "self.net" in found.reads
    assert "make" not in found.reads


@pytest.mark.parametrize(
    ("one", "two", "overlap"),
    [
        ("a", "a", True),
        ("a.b", "a", True),
        ("a", "a.b.c", True),
        ("a.b", "a.c", False),
        ("self.a", "self", False),
        ("self.a.b", "self.a", True),
        ("ab", "a", False),
    ],
)
def test_a_path_overlaps_its_prefixes_except_self(one, two, overlap):
    assert touches({one}, {two}) is overlap


BLOCKS = SourceTree(
    "t.py",
    "if a:\n    first()\nelse:\n    second()\nfor x in y:\n    third()\n\ndef f():\n    fourth()\n",
)


@pytest.mark.parametrize(
    ("one", "two", "indices"),
    [
        pytest.param("first()", "third()", (0, 1), id="compound-statements"),
        pytest.param("third()", "first()", (1, 0), id="reversed"),
        pytest.param("first()", "second()", (0, 0), id="two-branches"),
        pytest.param("first()", "fourth()", None, id="inside-a-function"),
    ],
)
def test_two_statements_meet_in_their_innermost_common_block(one, two, indices):
    found = common_block(BLOCKS, statement_of(BLOCKS, one), statement_of(BLOCKS, two))

    assert (found and found[1:]) == indices


def plan(text, shared=frozenset({"net"})):
    tree = SourceTree("t.py", text)
    block = tree.tree.body
    moving, reason = dependents(tree, block, 0, len(block) - 1, set(shared))
    return [ast.unparse(statement) for statement in moving], reason


@pytest.mark.parametrize(
    ("text", "moving"),
    [
        pytest.param("opt = SGD(net)\nnet.to(d)", ["opt = SGD(net)"], id="one-statement"),
        pytest.param("opt = SGD(net)\nlog()\nnet.to(d)", ["opt = SGD(net)"], id="independent-between"),
        pytest.param(
            "opt = SGD(net)\nsched = Step(opt)\nnet.to(d)", ["opt = SGD(net)", "sched = Step(opt)"], id="dependent"
        ),
        pytest.param("opt = SGD(net, lr)\nlr = 2\nnet.to(d)", ["opt = SGD(net, lr)", "lr = 2"], id="changed-argument"),
    ],
)
def test_dependents_move_with_the_statement(text, moving):
    assert plan(text) == (moving, "")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("opt = SGD(net)\nnet.to(opt.device)", id="the-anchor-reads-it"),
        pytest.param("opt = SGD(net)\nsched = Step(opt)\nnet.to(sched)", id="the-anchor-reads-a-dependent"),
        pytest.param("opt = SGD(net, d)\nd = net.to(d)", id="the-anchor-changes-an-argument"),
    ],
)
def test_nothing_moves_behind_a_statement_that_depends_on_it(text):
    moving, reason = plan(text)

    assert moving == []
    assert reason.startswith(f"`{text.splitlines()[-1]}` uses")


@pytest.mark.parametrize(
    ("text", "free"),
    [
        pytest.param("opt = SGD(net)\nnet.to(d)", True, id="only-the-model-is-shared"),
        pytest.param("d = pick()\nnet.to(d)", False, id="reads-a-new-name"),
        pytest.param("log(name)\nname = 1", False, id="writes-a-name-in-use"),
        pytest.param("net.fc = Linear()\nnet.to(d)", True, id="part-of-the-model"),
    ],
)
def test_a_statement_can_precede_what_does_not_concern_it(text, free):
    tree = SourceTree("t.py", text)

    assert independent(tree, tree.tree.body, 0, 1, {"net"}) is free


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = 1", "`x = 1`"), ("if a:\n    x = 1", "`if a:`"), (f"x = '{'a' * 90}'", f"`x = '{'a' * 54}…`")],
    ids=["short", "compound", "long"],
)
def test_a_statement_is_shown_by_its_first_line(text, line):
    tree = SourceTree("t.py", text)

    assert shown(tree, tree.tree.body[0]) == line
