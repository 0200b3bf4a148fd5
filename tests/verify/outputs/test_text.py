"""Printed text as a terminal shows it in the end."""

from __future__ import annotations

import pytest

from devfix.verify.outputs.text import split_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("a\nb", ["a", "b"], id="plain"),
        pytest.param("a\r\nb\r\n", ["a", "b", ""], id="windows"),
        pytest.param(" 0%\r 50%\r100% loss=0.5\ndone", ["100% loss=0.5", "done"], id="progress"),
        pytest.param("50%\r      \rdone", ["done"], id="erased"),
        pytest.param("\x1b[32mok\x1b[0m \x1b]8;;x\x07link", ["ok link"], id="colours"),
        pytest.param(
            "A 0%\n\rB 0%\x1b[A\n\rB 50%\x1b[A\rA 100%\n\rB 100%\n", ["A 100%", "B 100%", ""], id="nested-bars"
        ),
    ],
)
def test_only_the_last_state_of_a_line_counts(text, lines):
    assert [line.strip() for line in split_lines(text)] == lines
