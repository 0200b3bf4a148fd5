"""Tests for rules: programs before and after, and programs that stay as they are.

::

    from devfix.testing import RuleTest
    from acme_rules import RULE

    test = RuleTest(RULE)

    def test_a_call():
        test.assert_fixed(before="...", after="...")

Everything fails by ``AssertionError``; no test framework is needed.
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
    """Asserts what a rule does to programs: a text (``train.py``), or texts by file name, the entry first.

    Each is tried as it is, with Windows line ends, with tabs, and without the last line end.  Only this rule runs, with
    its unsafe fixes.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def assert_examples(self) -> None:
        """The examples that the rule shows are true."""
        for example in self.rule.invalid:
            self.assert_fixed(example.before, example.after)
        for text in self.rule.valid:
            self.assert_clean(text)

    def assert_clean(self, given: str | Texts) -> None:
        """There is no finding."""
        for words, texts in _variants(_named(given)):
            outcome = self._run(texts, repair=False)
            assert not outcome.problems, f"{words}: {outcome.problems[0].message}"
            findings = [each.finding for each in outcome.resolutions]
            found = [f"line {each.span.line}: {each.message}" for each in findings]
            assert not found, f"{words}: found where nothing is wrong: {found}"

    def assert_fixed(self, before: str | Texts, after: str | Texts) -> None:
        """The program becomes ``after``, byte by byte, and:

        the result compiles, a second pass changes nothing, every comment is still there, and lines that no edit names
        stay as they are.
        """
        one, two = _named(before), _named(after)
        for (words, old), (_, new) in zip(_variants(one), _variants(two), strict=True):
            repaired = self._repaired(old)
            for name in old:
                assert repaired[name] == new[name], f"{words}: {name} becomes\n{_diff(new[name], repaired[name])}"
                compile(repaired[name], name, "exec", dont_inherit=True)
                lost = _comments(old[name]) - _comments(repaired[name])
                assert not lost, f"{words}: comments are lost in {name}: {sorted(lost)}"
            self._assert_only_planned(words, old, repaired)
            assert self._repaired(repaired) == repaired, f"{words}: a second pass changes something"

    def _assert_only_planned(self, words: str, old: Texts, new: Texts) -> None:
        """Lines differ only where an edit of a fix says so, or stand beside it."""
        planned: dict[str, set[int]] = {name: set() for name in old}
        for resolution in self._run(old, repair=False).resolutions:
            for fix in resolution.finding.fixes:
                for edit in fix.edits:
                    planned[_short(edit.path, old)].update(_lines(edit))
        for name in old:
            before, after = old[name].splitlines(), new[name].splitlines()
            for kind, i1, i2, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
                touched = set(range(i1 + 1, i2 + 1)) if i1 < i2 else {i1, i1 + 1}
                if kind != "equal":
                    assert touched & planned[name], f"{words}: {name}:{i1 + 1} changes, and no edit names it"

    def _repaired(self, texts: Texts) -> dict[str, str]:
        outcome = self._run(texts, repair=True)
        assert not outcome.problems, outcome.problems[0].message
        left = [each for each in outcome.resolutions if each.status is not Status.FIXED]
        assert not left or not outcome.patch.files, f"not fixed: {left[0].reason}" if left else ""
        return {**texts, **{_short(change.path, texts): change.new.decode() for change in outcome.patch.files}}

    def _run(self, texts: Texts, repair: bool) -> Outcome:
        with tempfile.TemporaryDirectory() as folder, plugins.only(self.rule):
            files = [_written(os.path.join(folder, name), text) for name, text in texts.items()]
            settings = Settings(select=(self.rule.code,), unsafe_fixes=True, root=folder)
            return fixpoint.apply(files, settings) if repair else fixpoint.check(files, settings)


def _written(path: str, text: str) -> SourceFile:
    """A file on the disk: that is where an import looks for it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode())
    return SourceFile(path, text.encode(), text)


def _short(path: str, names: Texts) -> str:
    """The name of a file in the test."""
    return next(name for name in names if path.replace(os.sep, "/").endswith(f"/{name}"))


def _named(given: str | Texts) -> dict[str, str]:
    return {"train.py": given} if isinstance(given, str) else dict(given)


def _variants(texts: Texts) -> Iterator[tuple[str, dict[str, str]]]:
    yield "as it is", dict(texts)
    yield "with \\r\\n", {name: text.replace("\n", "\r\n") for name, text in texts.items()}
    yield "with tabs", {name: _with_tabs(text) for name, text in texts.items()}
    yield "without the last line end", {name: text.rstrip("\n") for name, text in texts.items()}


def _with_tabs(text: str) -> str:
    """Indented by tabs, where it is indented by fours and no string or continuation spans lines."""
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


def _diff(expected: str, given: str) -> str:
    lines = difflib.unified_diff(expected.splitlines(), given.splitlines(), "expected", "given", lineterm="")
    return "\n".join(lines) or f"{given!r} instead of {expected!r}"
