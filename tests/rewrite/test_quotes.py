"""New string literals follow the file; what the author wrote keeps its own quotes."""

from __future__ import annotations

import ast

import pytest

from devfix.model import AddKeyword, AppendCode, InsertStatement, ReplaceExpression, ReplaceStatement, Span, Where
from devfix.rewrite import RewriteError, rewrite

SINGLE = "name = 'x'\nkind = 'y'\ncall(a)\n"
DOUBLE = SINGLE.replace("'", '"')


def last_call(text):
    node = ast.parse(text).body[-1].value
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def keyword(text, value):
    return rewrite(text, [AddKeyword("", last_call(text), "map_location", value)])


@pytest.mark.parametrize(("text", "value"), [(SINGLE, "'cpu'"), (DOUBLE, '"cpu"'), ("call(a)\n", '"cpu"')])
@pytest.mark.parametrize("given", ["'cpu'", '"cpu"'])
def test_a_keyword_is_written_in_the_quotes_of_the_file(text, value, given):
    assert keyword(text, given) == text.replace("(a)", f"(a, map_location={value})")


def test_apostrophes_in_comments_and_in_literals_are_no_quotes():
    text = "# don't, can't, won't\na = \"it's\"\nb = \"one\"\ncall(a)\n"

    assert keyword(text, "'cpu'").endswith('map_location="cpu")\n')


def test_docstrings_do_not_decide():
    text = '"""What it does."""\ndef f():\n    """It does."""\n    return \'x\'\ncall(a)\n'

    assert keyword(text, '"cpu"').endswith("map_location='cpu')\n")


@pytest.mark.parametrize(
    "value", ['"it\'s"', "'say \"no\"'", r'"a\tb"', '"""cpu"""', '""', "f\"cuda:{ranks['x']}\""], ids=repr
)
def test_what_would_have_to_be_escaped_stays(value):
    text = DOUBLE if value[0] == "'" else SINGLE
    expected = "''" if value == '""' else value

    assert keyword(text, value).endswith(f"map_location={expected})\n")


def test_a_formatted_string_follows_too():
    assert keyword(SINGLE, 'f"cuda:{rank}"').endswith("map_location=f'cuda:{rank}')\n")


def test_prefixes_stay():
    assert keyword(SINGLE, 'rb"x"').endswith("map_location=rb'x')\n")


def test_each_kind_of_edit_follows():
    text, span = SINGLE, last_call(SINGLE)
    whole = Span(3, 0, 3, len("call(a)"))

    assert rewrite(text, [AppendCode("", span, '.to("cpu")')]).endswith("call(a).to('cpu')\n")
    assert rewrite(text, [ReplaceExpression("", span, 'g("cpu")')]).endswith("g('cpu')\n")
    assert rewrite(text, [InsertStatement("", whole, Where.AFTER, 'a = b["k"]')]).endswith("call(a)\na = b['k']\n")
    lines = ('if args["gpu"]:', '    a = f(\n        b["k"],\n    )')
    result = "if args['gpu']:\n    a = f(\n        b['k'],\n    )\n"
    assert rewrite(text, [ReplaceStatement("", whole, lines)]).endswith(result)


def test_what_is_copied_from_the_file_keeps_its_quotes():
    text = "name = 'x'\nkind = 'y'\nself.a = make(\"special\")\n"
    whole = Span(3, 0, 3, len('self.a = make("special")'))
    code = ('self.register_buffer("a", make("special"))',)

    assert rewrite(text, [ReplaceStatement("", whole, code)]).endswith("self.register_buffer('a', make(\"special\"))\n")


def test_code_that_has_no_tokens_is_left_to_the_check_that_follows():
    with pytest.raises(RewriteError, match="does not parse"):
        rewrite(SINGLE, [AppendCode("", last_call(SINGLE), '.to("cpu" + (')])
