"""Test helper for rules: assert the rewritten program, or the absence of findings.

::

    from devfix.testing import RuleTest
    from acme_rules import RULE

    test = RuleTest(RULE)

    def test_a_call():
        test.assert_fixed(before="...", after="...")


Failures raise ``AssertionError``; any test framework will do.
"""

from __future__ import annotations

import difflib
import io
import os
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Edit, Outcome, Span, Status
from devfix.rules import plugins
from devfix.rules.rule import Rule
from devfix.sources import SourceFile

__all__ = ["RuleTest"]

Texts = Mapping[str, str]


class RuleTest:
    """Assertions about one rule.

    A program is a text (``train.py``) or a mapping of file names to texts, entry point first. It is also checked with
    Windows line endings, with tabs, and without the final newline. Only this rule runs, with unsafe fixes enabled.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def assert_examples(self) -> None:
        """Assert that the examples of the rule are correct."""
        for example in self.rule.invalid:
            self.assert_fixed(example.before, example.after)
        for text in self.rule.valid:
            self.assert_clean(text)

    def assert_clean(self, program: str | Texts) -> None:
        """Assert that the rule reports nothing for the program."""
        for variant, texts in _variants(_by_name(program)):
            outcome = self._run(texts, fix=False)
            assert not outcome.problems, f"{variant}: {outcome.problems[0].message}"
            findings = [each.finding for each in outcome.resolutions]
            found = [f"line {each.span.line}: {each.message}" for each in findings]
            assert not found, f"{variant}: unexpected findings: {found}"

    def assert_fixed(self, before: str | Texts, after: str | Texts) -> None:
        """Assert that the rule rewrites ``before`` to ``after``, byte for byte.

        The result must also compile, keep every comment, and leave lines unchanged that no edit names; a second pass
        must change nothing.
        """
        one, two = _by_name(before), _by_name(after)
        for (variant, old), (_, new) in zip(_variants(one), _variants(two), strict=True):
            fixed = self._fix(old)
            for name in old:
                assert fixed[name] == new[name], f"{variant}: {name} becomes\n{_diff(new[name], fixed[name])}"
                compile(fixed[name], name, "exec", dont_inherit=True)
                lost = _comments(old[name]) - _comments(fixed[name])
                assert not lost, f"{variant}: comments missing in {name}: {sorted(lost)}"
            self._assert_only_planned(variant, old, fixed)
            assert self._fix(fixed) == fixed, f"{variant}: a second pass changes something"

    def _assert_only_planned(self, variant: str, old: Texts, new: Texts) -> None:
        """Assert that lines differ only at, or next to, an edit of a fix."""
        edited: dict[str, set[int]] = {name: set() for name in old}
        for resolution in self._run(old, fix=False).resolutions:
            for fix in resolution.finding.fixes:
                for edit in fix.edits:
                    edited[_test_name(edit.path, old)].update(_lines(edit))
        for name in old:
            before, after = old[name].splitlines(), new[name].splitlines()
            for kind, i1, i2, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
                touched = set(range(i1 + 1, i2 + 1)) if i1 < i2 else {i1, i1 + 1}
                if kind != "equal":
                    assert touched & edited[name], f"{variant}: {name}:{i1 + 1} changes, but no edit names this line"

    def _fix(self, texts: Texts) -> dict[str, str]:
        outcome = self._run(texts, fix=True)
        assert not outcome.problems, outcome.problems[0].message
        left = [each for each in outcome.resolutions if each.status is not Status.FIXED]
        assert not left or not outcome.patch.files, f"not fixed: {left[0].reason}" if left else ""
        return {**texts, **{_test_name(change.path, texts): change.new.decode() for change in outcome.patch.files}}

    def _run(self, texts: Texts, fix: bool) -> Outcome:
        with tempfile.TemporaryDirectory() as folder, plugins.only(self.rule):
            files = [_write_source(os.path.join(folder, name), text) for name, text in texts.items()]
            settings = Settings(select=(self.rule.code,), unsafe_fixes=True, root=folder)
            return fixpoint.apply(files, settings) if fix else fixpoint.check(files, settings)


def _write_source(path: str, text: str) -> SourceFile:
    """Write a file to disk, so that imports find it, and return it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode())
    return SourceFile(path, text.encode(), text)


def _test_name(path: str, names: Texts) -> str:
    """Return the name of a file in the test."""
    return next(name for name in names if path.replace(os.sep, "/").endswith(f"/{name}"))


def _by_name(program: str | Texts) -> dict[str, str]:
    return {"train.py": program} if isinstance(program, str) else dict(program)


def _variants(texts: Texts) -> Iterator[tuple[str, dict[str, str]]]:
    yield "unchanged", dict(texts)
    yield "with \\r\\n", {name: text.replace("\n", "\r\n") for name, text in texts.items()}
    yield "with tabs", {name: _with_tabs(text) for name, text in texts.items()}
    yield "without the final newline", {name: text.rstrip("\n") for name, text in texts.items()}


def _with_tabs(text: str) -> str:
    """Indent with tabs, if all indents are multiples of four and no string spans lines; else return ``text``."""
    lines = text.split("\n")
    if '"""' in text or "'''" in text or any(len(line) - len(line.lstrip(" ")) & 3 for line in lines):
        return text
    return "\n".join("\t" * ((len(line) - len(line.lstrip(" "))) // 4) + line.lstrip(" ") for line in lines)


def _comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def _lines(edit: Edit) -> Iterator[int]:
    for field in fields(edit):
        value = getattr(edit, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Span):
                yield from range(each.line - 1, each.end_line + 2)


def _diff(expected: str, actual: str) -> str:
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual", lineterm="")
    return "\n".join(lines) or f"{actual!r} instead of {expected!r}"
