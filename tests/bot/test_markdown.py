"""Texts of strangers in Markdown."""

import time

import pytest

from devfix.bot.markdown import code, fenced, has_invisible, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a <b> *c* _d_ [e](f)", r"a \<b\> \*c\* \_d\_ \[e\](f)", id="mark-up"),
        pytest.param("`x` is on `cuda:0`", "`x` is on `cuda:0`", id="code-stays"),
        pytest.param("one\ntwo\r\n# three", r"one two \# three", id="one-line"),
        pytest.param("@ann and a@b", "@\u200bann and a@\u200bb", id="mentions"),
        pytest.param("https://evil.example", "https:\u200b//evil.example", id="links"),
        pytest.param("lab/nets#7", "lab/nets\\#\u200b7", id="other-issues"),
        pytest.param("GH-7", "GH\u200b-7", id="issues"),
        pytest.param("www.evil.example", "www\u200b.evil.example", id="addresses"),
        pytest.param("a|b", r"a\|b", id="cells"),
        pytest.param("\u202egnp.exe", " gnp.exe", id="direction"),
        pytest.param("a\u200eb\u200fc\u2028d\u2029e\u00adf\ufeffg", "a b c d e f g", id="invisible"),
        pytest.param("see !12 and group/proj!3", "see !\u200b12 and group/proj!\u200b3", id="merge-requests"),
        pytest.param("%1 ^alert ~bug $5", "%\u200b1 ^\u200balert \\~\u200bbug \\$\u200b5", id="other-references"),
        pytest.param("in " + "ab" * 20, "in `" + "ab" * 20 + "`", id="commits"),
        pytest.param("lab/nets@" + "1" * 40, "lab/nets@`" + "1" * 40 + "`", id="commits-elsewhere"),
        pytest.param("`x``a``" + "1" * 7, "`x`\u200b`a`\\`\u200b`1111111`", id="code-beside-code"),
        pytest.param("a != b, x % 2", "a != b, x % 2", id="operators"),
        pytest.param("deadbeef_x facade", r"deadbeef\_x facade", id="names-that-look-like-commits"),
        pytest.param("`open", r"\`open", id="open-tick"),
    ],
)
def test_plain_text(text, shown):
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("x", "`x`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("a|b", "`a\u2502b`"), ("", "`  `")],
)
def test_code(text, shown):
    assert code(text) == shown


def test_a_fence_is_longer_than_any_within():
    assert fenced("````\nx") == "`````\n````\nx\n`````\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x\t= 1\r\n", False), ("x = '\u202e'", True), ("x\u2028", True), ("ä €", False), ("\x1b[0m", True)],
)
def test_characters_that_nobody_sees(text, expected):
    assert has_invisible(text) is expected


@pytest.mark.parametrize("part", ["`", "`a", "`a` ", "@a", "0123456 ", "\u200e", "://", "www."])
def test_a_long_text_is_escaped_quickly(part):
    started = time.perf_counter()

    plain(part * 50_000)

    assert time.perf_counter() - started < 5
