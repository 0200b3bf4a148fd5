"""Texts of strangers in Markdown."""

import pytest

from devfix.bot.markdown import code, fenced, plain


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
