"""Comparison of texts line by line and value by value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple, Union

from devfix.verify.outputs import vocabulary
from devfix.verify.outputs.rounding import printed_agree, same_in_float32
from devfix.verify.outputs.vocabulary import NUMBER, VARYING, is_number

__all__ = ["Change", "Line", "Noise", "has_computed_number", "line_changes", "parse_line", "text_agrees"]

_IDENTIFIER = r"(?<![\w.])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,}(?![\w.])"

#: Random identifiers, numbers (after what varies by nature, a hyphen is no sign), words, and punctuation.
_TOKEN = re.compile(rf"{_IDENTIFIER}|(?<![A-Za-z_{VARYING}])(?:{NUMBER})|[^\W\d]\w*|\d\w*|[^\w\s]")

_NUMBERS = re.compile(NUMBER)

#: Product of the numbers of lines of two blocks that are aligned by their text without numbers.
_LARGEST_ALIGNMENT = 40_000

_SOURCE_OF = re.compile(r'^\s*File "|\.(?:py|ipynb):\S*:?.*Warning:')

Pair = tuple[Union[int, None], Union[int, None]]


class Line(NamedTuple):
    """A line as words, numbers and punctuation.

    ``template`` is the line without its numbers: lines with equal templates can be compared number by number.
    """

    tokens: tuple[str, ...]
    template: str


class Noise(NamedTuple):
    """What other runs of the original have in place of an expected text, and how the patch shifts its source.

    Attributes:
        repeated: the text in a repetition; what differs there is left out.  None if there is none.
        elsewhere: the text on another device, which decides whether amounts of memory and numbers of lines are
            results.  None if there is none: then they are left out.
        shifts: by how much line numbers may differ.

    """

    repeated: str | None = None
    elsewhere: str | None = None
    shifts: frozenset[int] = frozenset({0})


class Change(NamedTuple):
    """A line that changed, appeared (``theirs`` is None) or vanished (``ours`` is None); numbered from 1."""

    number: int
    ours: str | None
    theirs: str | None


@lru_cache(maxsize=20_000)
def parse_line(text: str) -> Line:
    """Return the tokens of a line; what differs by nature is :data:`~devfix.verify.outputs.vocabulary.VARYING`."""
    tokens = tuple(_TOKEN.findall(vocabulary.neutral(text)))
    return Line(tokens, " ".join("#" if is_number(token) else token for token in tokens))


def has_computed_number(text: str) -> bool:
    """Whether a line has a floating-point number that does not differ by nature."""
    if "." not in text and "e" not in text:
        return False
    return any(is_number(token) and not token.lstrip("+-").isdigit() for token in parse_line(text).tokens)


def text_agrees(ours: str, theirs: str, noise: Noise, exact: bool) -> bool:
    """Whether two single texts agree, apart from what differs by nature or between the runs of the original."""
    repeated = noise.repeated
    if ours == theirs or (repeated is not None and _is_all_noise(theirs, repeated)):
        return True
    if not _agrees(parse_line(ours), parse_line(theirs), _unreproduced(theirs, repeated), exact):
        return False
    return _measurements_agree(ours, theirs, noise, exact)


def _measurements_agree(ours: str, theirs: str, noise: Noise, exact: bool) -> bool:
    """Whether measurements agree that the other runs of the original reproduce: they are results.

    The clocks of the repetition run faster.  Amounts of memory and numbers of lines do not differ in a repetition; they
    are results only if they do not depend on the device either.
    """
    texts = (ours, theirs, theirs if noise.repeated is None else noise.repeated)
    pieces = [vocabulary.measurements(text) for text in texts]
    if len({len(each) for each in pieces}) > 1:
        return True
    elsewhere: Sequence[vocabulary.Measurement | None] = ()
    if noise.elsewhere is not None:
        elsewhere = vocabulary.measurements(noise.elsewhere)
    if len(elsewhere) != len(pieces[0]):
        elsewhere = [None] * len(pieces[0])
    for mine, expected, again, other in zip(*pieces, elsewhere):
        is_reproduced = expected == again and (expected.kind == "time" or expected == other)
        if mine != expected and is_reproduced and not _numbers_of_pieces_agree(mine, expected, noise.shifts, exact):
            return False
    return True


def _numbers_of_pieces_agree(
    mine: vocabulary.Measurement, expected: vocabulary.Measurement, shifts: frozenset[int], exact: bool
) -> bool:
    """Whether the numbers of two measurements agree; those of lines may differ as the patch shifts the source."""
    for one, other in zip(*(_NUMBERS.findall(each.text) for each in (mine, expected))):
        if expected.kind == "line":
            if int(one) - int(other) not in shifts:
                return False
        elif one != other and not vocabulary.may_be_measured(other) and not _token_agrees(one, other, exact):
            return False
    return True


def line_changes(
    ours: Sequence[str],
    theirs: Sequence[str],
    repeated: Sequence[str] | None,
    exact: bool,
    elsewhere: Sequence[str] | None = None,
    shifts: frozenset[int] = frozenset({0}),
) -> Iterator[Change]:
    """Yield the lines that differ.

    Args:
        ours: the lines of the run to judge.
        theirs: the expected ones.
        repeated: those of a repetition of the expected run: what differs there is left out; None if there is none.
        exact: printed numbers must have the same digits; else they may differ by rounding.
        elsewhere: those of the expected run's script on another device; None if it was not run there.
        shifts: by how much the patch shifts line numbers.

    """
    if ours == theirs:
        return
    our_lines, their_lines = (_numbered(lines) for lines in (ours, theirs))
    partners, unstable = _partners(their_lines, theirs if repeated is None else repeated)
    others = {} if elsewhere is None else _partners(their_lines, elsewhere)[0]
    noise = {index: Noise(text, others.get(index), shifts) for index, text in partners.items()}
    yield from _changes(our_lines, their_lines, noise, unstable, exact)


def _partners(lines: list[tuple[int, str]], other: Sequence[str]) -> tuple[dict[int, str], set[str]]:
    """Return the lines of another run by the index of their counterpart, and the shapes of lines without one."""
    others = _numbered(other)
    if others == lines:
        return {index: text for index, (_, text) in enumerate(lines)}, set()
    partners: dict[int, str] = {}
    unstable: set[str] = set()
    for left, right in _aligned(others, lines):
        if left is not None and right is not None:
            partners[right] = others[left][1]
        else:
            only = others[left or 0] if right is None else lines[right]
            unstable.add(_shape(only[1]))
    return partners, unstable


def _changes(
    ours: list[tuple[int, str]],
    theirs: list[tuple[int, str]],
    noise: dict[int, Noise],
    unstable: set[str],
    exact: bool,
) -> Iterator[Change]:
    appeared: list[Change] = []
    vanished: list[Change] = []
    changed: list[Change] = []
    for left, right in _aligned(ours, theirs):
        if left is not None and right is not None:
            text, expected = ours[left][1], theirs[right][1]
            agrees = right not in noise or text_agrees(text, expected, noise[right], exact)
            if not agrees and not _is_about_device(text, expected):
                changed.append(Change(ours[left][0], text, expected))
        elif left is not None:
            if _shape(ours[left][1]) not in unstable:
                appeared.append(Change(ours[left][0], ours[left][1], None))
        elif right is not None and right in noise:
            vanished.append(Change(theirs[right][0], None, theirs[right][1]))
    yield from _without_moved(sorted((*changed, *appeared, *vanished), key=lambda change: change.number))


def _without_moved(changes: list[Change]) -> Iterator[Change]:
    """Yield the changes without lines that only come in another order, as those of several processes do.

    Lines that say the same of other numbers stay in order: the first of them tells of the first epoch.
    """
    ours = Counter(parse_line(each.ours) for each in changes if each.ours is not None)
    theirs = Counter(parse_line(each.theirs) for each in changes if each.theirs is not None)
    moved = ours & theirs
    templates = Counter(line.template for line in moved)
    moved = Counter({line: number for line, number in moved.items() if templates[line.template] == 1})
    moved_ours, moved_theirs = moved.copy(), moved.copy()
    for change in changes:
        sides = [
            (moved, parse_line(text))
            for moved, text in ((moved_ours, change.ours), (moved_theirs, change.theirs))
            if text is not None
        ]
        if len(sides) == 2 and sides[0][1] == sides[1][1]:  # they differ in a measurement only
            yield change
        elif all(moved[line] for moved, line in sides):
            for moved, line in sides:
                moved[line] -= 1
        elif len(sides) == 2 or not _may_be_alone(change.ours or change.theirs or ""):
            yield change


def _may_be_alone(text: str) -> bool:
    """Whether a line without partner says nothing: it names a device and no result, or is a warning."""
    if vocabulary.is_warning(text):
        return True
    return vocabulary.mentions_device(text) and not vocabulary.is_failure(text) and not has_computed_number(text)


def _is_about_device(ours: str, theirs: str) -> bool:
    """Whether two lines differ in the words that they have about devices only."""
    if vocabulary.is_warning(ours) and vocabulary.is_warning(theirs):
        return True
    pieces = [re.split(r"[,;|()\[\]{}\t]", text) for text in (ours, theirs)]
    if len(pieces[0]) != len(pieces[1]):
        return all(map(_may_be_alone, (ours, theirs)))
    different = [pair for pair in zip(*pieces) if parse_line(pair[0]) != parse_line(pair[1])]
    return bool(different) and all(all(map(_may_be_alone, pair)) for pair in different)


def _numbered(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return number and text of the lines, without empty ones and the source that tracebacks and warnings show."""
    found = []
    after_place = False
    for number, line in enumerate(lines, 1):
        if after_place and line[:1] in (" ", "\t") and not _SOURCE_OF.search(line):
            continue
        after_place = _SOURCE_OF.search(line) is not None
        if line.strip():
            found.append((number, line))
    return found


def _same_shape(one: str, other: str) -> bool:
    return one == other or _shape(one) == _shape(other)


def _shape(text: str) -> str:
    return parse_line(text).template


def _aligned(left: list[tuple[int, str]], right: list[tuple[int, str]]) -> Iterator[Pair]:
    """Yield pairs of indices of lines that correspond; None for a line without partner."""
    start, shorter = 0, min(len(left), len(right))
    while start < shorter and _same_shape(left[start][1], right[start][1]):
        yield start, start
        start += 1
    end = 0
    while end < shorter - start and _same_shape(left[-1 - end][1], right[-1 - end][1]):
        end += 1
    yield from _blocks(range(start, len(left) - end), range(start, len(right) - end), left, right, _by_text)
    for back in range(end, 0, -1):
        yield len(left) - back, len(right) - back


def _blocks(
    lefts: range,
    rights: range,
    left: list[tuple[int, str]],
    right: list[tuple[int, str]],
    inner: Callable[[range, range, list[tuple[int, str]], list[tuple[int, str]]], Iterator[Pair]],
    key: Callable[[str], Hashable] = parse_line,
) -> Iterator[Pair]:
    """Yield pairs of two blocks of lines: lines of equal ``key`` in order, and what ``inner`` yields between them."""
    ours, theirs = ([key(lines[index][1]) for index in block] for lines, block in ((left, lefts), (right, rights)))
    for kind, left_start, left_end, right_start, right_end in SequenceMatcher(None, ours, theirs).get_opcodes():
        pieces = lefts[left_start:left_end], rights[right_start:right_end]
        yield from zip(*pieces) if kind == "equal" else inner(*pieces, left, right)


def _by_text(lefts: range, rights: range, left: list[tuple[int, str]], right: list[tuple[int, str]]) -> Iterator[Pair]:
    """Yield pairs of two blocks without equal lines: by their text without numbers, or if they are long by position."""
    if len(lefts) * len(rights) > _LARGEST_ALIGNMENT:
        return _paired(lefts, rights, left, right)
    return _blocks(lefts, rights, left, right, _paired, _shape)


def _paired(lefts: range, rights: range, left: list[tuple[int, str]], right: list[tuple[int, str]]) -> Iterator[Pair]:
    """Yield pairs of similar lines of two blocks in order."""
    at = 0
    for index in lefts:
        found = next((other for other in rights[at : at + 20] if _similar(left[index][1], right[other][1])), None)
        if found is None:
            yield index, None
            continue
        yield from ((None, skipped) for skipped in range(rights[0] + at, found))
        yield index, found
        at = found - rights[0] + 1
    yield from ((None, index) for index in rights[at:])


def _similar(one: str, other: str) -> bool:
    """Whether two lines are versions of one: they have most words in common."""
    ours, theirs = ([token for token in parse_line(text).tokens if token[0].isalpha()] for text in (one, other))
    if not ours or not theirs:
        return not ours and not theirs and _shape(one)[:1] == _shape(other)[:1]
    common = len(set(ours) & set(theirs))
    return 2 * common >= max(len(set(ours)), len(set(theirs)))


def _unreproduced(theirs: str, repeated: str | None) -> frozenset[int]:
    """Return the positions of the expected line's tokens that its repetition does not reproduce."""
    if repeated is None or repeated == theirs:
        return frozenset()
    line, again = parse_line(theirs).tokens, parse_line(repeated).tokens
    if len(line) == len(again):
        return frozenset(index for index, (one, other) in enumerate(zip(line, again)) if one != other)
    blocks = SequenceMatcher(None, line, again).get_opcodes()
    # An insertion belongs to its neighbours.
    return frozenset(
        index
        for kind, start, end, _, _ in blocks
        if kind != "equal"
        for index in (range(start, end) if end > start else (start - 1, start))
    )


def _is_all_noise(theirs: str, repeated: str) -> bool:
    return repeated != theirs and len(_unreproduced(theirs, repeated)) >= len(parse_line(theirs).tokens)


def _agrees(ours: Line, theirs: Line, noise: frozenset[int], exact: bool) -> bool:
    if len(ours.tokens) == len(theirs.tokens):
        pairs = enumerate(zip(ours.tokens, theirs.tokens))
        return all(one == other or index in noise or _token_agrees(one, other, exact) for index, (one, other) in pairs)
    if not noise:
        return False
    blocks = SequenceMatcher(None, ours.tokens, theirs.tokens).get_opcodes()
    return all(
        kind == "equal" or all(index in noise for index in (range(start, end) if end > start else (start - 1, start)))
        for kind, _, _, start, end in blocks
    )


def _token_agrees(ours: str, theirs: str, exact: bool) -> bool:
    if VARYING in (ours, theirs):
        return ours == theirs
    if not is_number(ours) or not is_number(theirs):
        return False
    return same_in_float32(ours, theirs) if exact else printed_agree(ours, theirs)
