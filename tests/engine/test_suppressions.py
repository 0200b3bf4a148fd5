"""Comments that leave code alone."""

import ast
import textwrap

import pytest

from devfix.engine import suppressions
from devfix.model import Span


def span_of(text, piece):
    """The span of the first ``piece`` in ``text``."""
    before = text[: text.index(piece)].split("\n")
    return Span(len(before), len(before[-1]), len(before), len(before[-1]) + len(piece))


def suppressed(text, piece, code="DEV201", name="submodule-replaced"):
    text = textwrap.dedent(text)
    return suppressions.collect(text).match(code, span_of(text, piece), name)


@pytest.mark.parametrize(
    "comment",
    [
        "# devfix: ignore[DEV201] moved by the caller",
        "# devfix: ignore[DEV101, DEV201]",
        "# devfix:ignore[dev201]",
        "# devfix: ignore[submodule-replaced]",
        "# devfix: ignore[DEV2]",
        "# devfix: ignore",
        "# devfix: ignore everything here",
        "# type: ignore  # devfix: ignore[DEV201]",
        "# noqa",
        "# NOQA: DEV201",
        "# noqa:E501,DEV201 too long",
        "# noqa: E501 DEV201",
    ],
)
def test_a_comment_suppresses(comment):
    assert suppressed(f"model.fc = make()  {comment}\n", "model.fc")


@pytest.mark.parametrize(
    "comment",
    [
        "# devfix: ignore[DEV101]",
        "# devfix: ignore[]",
        "# devfix: ignore[DEV201",
        "# devfix: ignored",
        "# devfix ignore",
        "# ignore[DEV201]",
        "# noqa: E501",
        "# noqa: because",
        "# noqable",
    ],
)
def test_a_comment_about_something_else_does_not(comment):
    assert not suppressed(f"model.fc = make()  {comment}\n", "model.fc")


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        pytest.param("x = f(  # devfix: ignore\n    a,\n    b,\n)\n", "b", id="first-line"),
        pytest.param("x = f(\n    a,\n    b,\n)  # devfix: ignore\n", "a", id="last-line"),
        pytest.param("x = f(\n    a,\n    b,  # devfix: ignore\n    c,\n)\n", "b", id="the-very-line"),
        pytest.param('x = f("""\nlong\n""")  # devfix: ignore\n', "x", id="after-a-long-string"),
        pytest.param("@wraps(g)  # devfix: ignore\n@other\ndef h(a):\n    pass\n", "def h", id="decorator"),
        pytest.param("@wraps(g)\ndef h(a):  # devfix: ignore\n    pass\n", "wraps", id="decorated"),
        pytest.param("def h(\n    a=1,\n):  # devfix: ignore\n    # why\n\n    pass\n", "a=1", id="header"),
        pytest.param("for x in loader:  # devfix: ignore\n    use(x)\n", "x in loader", id="loop"),
        pytest.param(
            "if a:\n    try:\n        x = 1  # devfix: ignore\n    except E:\n        y\n", "x = 1", id="nested"
        ),
        pytest.param("match p:\n    case 1:\n        x = 1  # devfix: ignore\n", "x = 1", id="match"),
        pytest.param("if a: x = 1  # devfix: ignore\n", "x = 1", id="one-line"),
        pytest.param("a = 1\r\nx = f(\r\n  b\r\n)  # devfix: ignore\r\n", "x = f(\r", id="crlf"),
    ],
)
def test_first_and_last_line_of_the_statement_count(text, piece):
    found = suppressions.collect(text)

    span = span_of(text, piece)
    assert found.match("DEV201", span)
    assert found.unused() == []


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        pytest.param("x = 1\ny = 2  # devfix: ignore\n", "x", id="next-statement"),
        pytest.param("for x in loader:\n    use(x)  # devfix: ignore\n", "x in loader", id="last-line-of-a-body"),
        pytest.param("for x in loader:  # devfix: ignore\n    use(x)\n", "use", id="header-is-not-the-body"),
        pytest.param('x = "# devfix: ignore"\n', "x", id="in-a-string"),
        pytest.param('x = """\n# devfix: ignore\n"""\n', "x", id="in-a-long-string"),
        pytest.param("x = f(\n    a,\n    b,  # devfix: ignore\n    c,\n)\n", "a", id="inner-line-of-another-argument"),
    ],
)
def test_other_lines_do_not(text, piece):
    assert not suppressions.collect(text).match("DEV201", span_of(text, piece))


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        pytest.param("# devfix: skip-file\nx = 1\n", True, id="first-line"),
        pytest.param("x = 1\n\n# devfix:skip-file, vendored\n", True, id="anywhere"),
        pytest.param("# devfix: skip-file\nprint 'python 2'\n", True, id="python-2"),
        pytest.param("# devfix: skip-file\nx = (\n", True, id="unfinished"),
        pytest.param('"""# devfix: skip-file"""\n', False, id="docstring"),
        pytest.param("# devfix: skip-files\nx = 1\n".replace("files", "filenames"), False, id="another-word"),
    ],
)
def test_a_file_can_ask_to_be_skipped(text, skipped):
    assert suppressions.collect(text).skip_file is skipped


def test_comments_that_were_not_needed_are_told():
    text = (
        "a = 1  # devfix: ignore[DEV201, DEV101]\nb = 2  # devfix: ignore\nc = 3  # noqa: E501, DEV301\nd = 4  # noqa\n"
    )
    found = suppressions.collect(text)

    assert found.match("DEV201", Span(1, 0, 1, 1))
    assert found.unused() == [(1, ("DEV101",)), (2, ()), (3, ("DEV301",))]
    assert found.match("DEV999", Span(2, 0, 2, 1))
    assert found.unused() == [(1, ("DEV101",)), (3, ("DEV301",))]
    assert found.unused(lambda code: code == "DEV301") == [(3, ("DEV301",))], "only what this run looked for"


def test_a_comment_without_codes_is_not_judged_by_a_run_that_looked_for_some_rules():
    found = suppressions.collect("b = 2  # devfix: ignore\n")

    assert found.unused() == [(1, ())]
    assert found.unused(lambda _: True) == []


def test_text_without_a_mark_is_not_parsed(monkeypatch):
    monkeypatch.setattr(ast, "parse", lambda *_: pytest.fail("parsed"))

    found = suppressions.collect("x = 1  # nothing to see\n" * 10)
    assert not found.match("DEV201", Span(1, 0, 1, 1))


def test_text_that_does_not_parse_still_answers_by_line():
    found = suppressions.collect("x = 1  # devfix: ignore\nprint 'two'\n")

    assert found.match("DEV201", Span(1, 0, 1, 1))
    assert not found.match("DEV201", Span(2, 0, 2, 1))
