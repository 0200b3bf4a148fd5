"""Differences of what two runs produced.

What a repetition of the expected run does not reproduce either is left out, value by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard, Union

from devfix.verify.outputs import vocabulary
from devfix.verify.outputs.collection import PRINTED, File, Outputs
from devfix.verify.outputs.lines import Noise, line_changes, parse_line, text_agrees
from devfix.verify.outputs.pairing import pair_files, unstable_names
from devfix.verify.outputs.rounding import arrays_agree, numbers_agree, same_in_float32, same_kind
from devfix.verify.outputs.values import Array, Value

__all__ = ["Difference", "differences"]

_LONGEST_SHOWN = 100
_CONTEXT = 50

_MISSING = object()


class Difference(NamedTuple):
    """A difference of one value, line or file.

    Attributes:
        where: the value, as ``metrics.json: `val.accuracy` ``.
        ours: the value of the run that is judged; None if it is missing there.
        theirs: the expected value; None if none is expected.
        output: the name of the file, as in :attr:`Outputs.summary`.

    """

    where: str
    ours: str | None
    theirs: str | None
    output: str = PRINTED

    def __str__(self) -> str:
        if self.ours is None:
            return f"{self.where} is missing" + (f": {self.theirs}" if self.theirs else "")
        if self.theirs is None:
            return f"{self.where} is not expected" + (f": {self.ours}" if self.ours else "")
        return f"{self.where} is {self.ours} instead of {self.theirs}"


class _Originals(NamedTuple):
    """Outputs of the original: the expected ones, those of a repetition, and those on another device; None if none."""

    expected: Outputs
    repeated: Outputs | None
    elsewhere: Outputs | None

    @property
    def again(self) -> Outputs:
        """The outputs of the repetition, or the expected ones."""
        return self.expected if self.repeated is None else self.repeated

    def lines_elsewhere(self, name: str) -> tuple[str, ...] | None:
        """Return the lines of a text file on the other device; None if there is none."""
        found = None if self.elsewhere is None else self.elsewhere.files.get(name)
        return found.lines if found is not None and found.kind == "text" else None

    def values_elsewhere(self, name: str) -> Mapping[str, Value]:
        """Return the values of a file on the other device; empty if there is none."""
        found = None if self.elsewhere is None else self.elsewhere.files.get(name)
        return {} if found is None else found.values


def differences(
    ours: Outputs, theirs: Outputs, repeated: Outputs | None, exact: bool, elsewhere: Outputs | None = None
) -> tuple[Difference, ...]:
    """Return the differences between what two runs produced; empty if they agree.

    Args:
        ours: the outputs of the run to judge.
        theirs: the expected outputs.
        repeated: the outputs of a repetition of the expected run; what differs there is left out.  None if there is
            none: then only what differs by nature is left out (times, paths, names of devices).
        exact: arrays must be equal bit for bit and printed numbers digit for digit (simulator).  Otherwise numbers
            may differ by rounding, and images and unknown formats are not compared.
        elsewhere: the outputs of the expected run's script on another device: amounts of memory and line numbers that
            are equal there are results.  None if there are none: then these are left out.

    """
    originals = _Originals(theirs, repeated, elsewhere)
    return (*_printed_differences(ours, originals, exact), *_file_differences(ours, originals, exact))


def _printed_differences(ours: Outputs, originals: _Originals, exact: bool) -> Iterator[Difference]:
    theirs, repeated, elsewhere = originals.expected, originals.again, originals.elsewhere
    yield from _line_differences(
        "the output",
        (ours.lines, theirs.lines, repeated.lines, None if elsewhere is None else elsewhere.lines),
        exact,
        ours.shifts,
    )
    if ours.omitted or theirs.omitted:
        is_reproduced = originals.repeated is not None and repeated.omitted_digest == theirs.omitted_digest
        if exact and is_reproduced and ours.omitted_digest != theirs.omitted_digest:
            yield Difference(
                "the middle of the output", f"{ours.omitted} other bytes", f"the expected {theirs.omitted} bytes"
            )
        yield from _line_differences(
            "the end of the output",
            (ours.tail, theirs.tail, repeated.tail, None if elsewhere is None else elsewhere.tail),
            exact,
            ours.shifts,
        )


#: The lines of the run to judge, of the expected run, of its repetition, and of another device if there is one.
_Texts = tuple[Sequence[str], Sequence[str], Sequence[str], Union[Sequence[str], None]]


def _line_differences(
    name: str, texts: _Texts, exact: bool, shifts: frozenset[int], output: str = PRINTED
) -> Iterator[Difference]:
    ours, theirs, repeated, elsewhere = texts
    expected = {parse_line(text).template for text in theirs}
    for change in line_changes(ours, theirs, repeated, exact, elsewhere, shifts):
        shown = _quoted_pair(change.ours, change.theirs)
        if change.ours is not None and change.theirs is None and parse_line(change.ours).template in expected:
            shown = shown[0], "no such line"  # a line of the script, printed once more
        yield Difference(f"line {change.number} of {name}", *shown, output)


def _quoted_pair(ours: str | None, theirs: str | None) -> tuple[str | None, str | None]:
    """Return both lines; of long ones the part from shortly before the first difference on."""
    if ours is None or theirs is None:
        return _quoted(ours), _quoted(theirs)
    ours, theirs = ours.strip(), theirs.strip()
    pairs = enumerate(zip(ours, theirs))
    common = next((at for at, (one, other) in pairs if one != other), min(len(ours), len(theirs)))
    start = max(0, common - _CONTEXT) if max(len(ours), len(theirs)) > _LONGEST_SHOWN else 0
    if start:
        ours, theirs = f"…{ours[start:]}", f"…{theirs[start:]}"
    return _quoted(ours), _quoted(theirs)


def _quoted(text: str | None) -> str | None:
    if text is None:
        return None
    text = text.strip()
    return f"`{text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + '…'}`"


def _file_differences(produced: Outputs, originals: _Originals, exact: bool) -> Iterator[Difference]:
    ours, theirs, again = produced.files, originals.expected.files, originals.again.files
    unstable = unstable_names(theirs, again)
    partner = {name: other for other, name in pair_files(again, theirs, unstable) if name is not None}
    unpaired = {
        vocabulary.noisy_name_pattern(name or other or "")
        for other, name in pair_files(again, theirs, unstable)
        if name is None or other is None
    }
    pairs = pair_files(ours, theirs, unstable)
    for name, expected in sorted(pairs, key=lambda pair: pair[0] or pair[1] or ""):
        if expected is None:
            file = ours[name or ""]
            if vocabulary.noisy_name_pattern(name or "") not in unpaired and _is_kept(name or "", file):
                yield Difference(f"the file {name}", "" if file.kind == "deleted" else file.contents, None, name or "")
        elif name is None:
            if (other := partner.get(expected)) is not None and _is_kept(expected, theirs[expected]):
                yield Difference(f"the file {expected}", None, theirs[expected].contents, expected)
        elif (other := partner.get(expected)) is not None:
            files = ours[name], theirs[expected], again[other]
            others = originals.lines_elsewhere(expected), originals.values_elsewhere(expected)
            yield from _content_differences(name, files, others, exact, produced.shifts)


def _is_kept(name: str, file: File) -> bool:
    """Whether a file is meant to stay: not one of the random names in the folder for temporary files."""
    return not (name.startswith("/tmp/") and (vocabulary.name_pattern(name) != name or file.kind == "deleted"))


def _content_differences(
    name: str,
    files: tuple[File, File, File],
    elsewhere: tuple[Sequence[str] | None, Mapping[str, Value]],
    exact: bool,
    shifts: frozenset[int],
) -> Iterator[Difference]:
    ours, theirs, repeated = files
    if "unreadable" in (ours.kind, theirs.kind):
        if ours.kind != theirs.kind and repeated.kind == theirs.kind and not _is_limit(ours, theirs):
            yield Difference(name, ours.contents, theirs.contents, name)
        return
    if ours.kind != theirs.kind:
        if repeated.kind == theirs.kind:
            yield Difference(name, ours.contents, theirs.contents, name)
        return
    if ours.kind in ("copy", "link"):
        if vocabulary.name_pattern(ours.note) != vocabulary.name_pattern(theirs.note) and theirs.note == repeated.note:
            yield Difference(name, ours.contents, theirs.contents, name)
    elif ours.kind == "text":
        texts = ours.lines, theirs.lines, repeated.lines, elsewhere[0]
        yield from _line_differences(name, texts, exact, shifts, name)
    elif exact or ours.kind == "values":
        yield from _value_differences(name, ours.values, theirs.values, repeated.values, elsewhere[1], exact)


def _is_limit(*files: File) -> bool:
    return any("limit" in file.note for file in files)


def _value_differences(
    name: str,
    ours: Mapping[str, Value],
    theirs: Mapping[str, Value],
    repeated: Mapping[str, Value],
    elsewhere: Mapping[str, Value],
    exact: bool,
) -> Iterator[Difference]:
    unstable = {vocabulary.noisy_name_pattern(key) for key in theirs.keys() ^ repeated.keys()}
    for key in theirs:
        if key in repeated:
            mine = ours.get(key, _MISSING)
            agrees = _value_agrees(mine, theirs[key], repeated[key], elsewhere.get(key), exact)
            is_held = key in elsewhere and _equal(elsewhere[key], theirs[key])
            if not agrees and not _differs_by_nature(key, mine, theirs[key], is_held):
                yield _value_difference(name, key, mine, theirs[key])
    for key in ours:
        is_new = key not in theirs and vocabulary.noisy_name_pattern(key) not in unstable
        if is_new and not _differs_by_nature(key, ours[key], _MISSING):
            yield _value_difference(name, key, ours[key], _MISSING)
    if not exact and not _arrays_agree(ours, theirs, repeated):
        yield Difference(f"{name}: the direction of all arrays together", "another one", "the expected one", name)


def _value_agrees(ours: object, theirs: Value, repeated: Value, elsewhere: Value, exact: bool) -> bool:
    if ours is _MISSING:
        return False
    if isinstance(ours, str) and isinstance(theirs, str):
        again, other = (each if isinstance(each, str) else None for each in (repeated, elsewhere))
        return text_agrees(ours, theirs, Noise(again, other), exact)
    if not _equal(theirs, repeated):
        return True
    if isinstance(ours, Array) and isinstance(theirs, Array):
        if exact:
            return ours == theirs and ours.excess <= theirs.excess
        if ours == theirs:
            return True
        if ours.dtype == theirs.dtype == "bytes":
            return True
        return (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape) and same_kind(ours.samples, theirs.samples)
    if _is_number(ours) and _is_number(theirs):
        return _numbers_agree(ours, theirs, exact)
    return type(ours) is type(theirs) and ours == theirs


def _numbers_agree(ours: float, theirs: float, exact: bool) -> bool:
    if _equal(ours, theirs) or (vocabulary.is_moment(ours) and vocabulary.is_moment(theirs)):
        return True
    if exact:
        return same_in_float32(repr(ours), repr(theirs))
    return numbers_agree(float(ours), float(theirs))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _equal(one: object, other: object) -> bool:
    return one == other or (one != one and other != other)


def _arrays_agree(ours: Mapping[str, Value], theirs: Mapping[str, Value], repeated: Mapping[str, Value]) -> bool:
    """Whether all floating-point arrays of two files, taken together, agree up to rounding."""
    pairs = [
        (mine, expected)
        for key, expected in theirs.items()
        if isinstance(mine := ours.get(key), Array) and isinstance(expected, Array)
        if expected.is_floating and expected == repeated.get(key) and len(mine.samples) == len(expected.samples)
    ]
    left, right = ([sample for pair in pairs for sample in pair[side].samples] for side in (0, 1))
    return arrays_agree(left, right)


def _differs_by_nature(key: str, ours: object, theirs: object, is_held: bool = False) -> bool:
    """Whether a value is a time, tells of the device that was used, or is the state of its random numbers.

    An amount of memory that is the same on another device (``is_held``) is a result.
    """
    if vocabulary.is_varying_key(key) and _is_number(ours) and _is_number(theirs):
        # The clocks of the repetition run faster: what it reproduces with several digits is no time.
        return (vocabulary.is_memory_key(key) and not is_held) or vocabulary.may_be_measured(repr(theirs))
    if not vocabulary.mentions_device(key.replace(".", " ")):
        return False
    return all(
        value is _MISSING or isinstance(value, (str, bool, int)) or value is None or _is_random_state(value)
        for value in (ours, theirs)
    )


def _is_random_state(value: object) -> bool:
    return isinstance(value, Array) and value.dtype == "uint8"


def _value_difference(name: str, key: str, ours: object, theirs: object) -> Difference:
    where = f"{name}: `{key}`" if key else name
    if isinstance(ours, Array) and isinstance(theirs, Array):
        return Difference(where, *_described_arrays(ours, theirs), name)
    return Difference(where, _shown(ours), _shown(theirs), name)


def _described_arrays(ours: Array, theirs: Array) -> tuple[str, str]:
    if ours == theirs:
        return f"{ours} that keeps {ours.excess:,} bytes of the storage which it is a view of", f"{theirs.excess:,}"
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape) or ours.dtype == "bytes":
        return (str(ours), str(theirs)) if str(ours) != str(theirs) else (f"other {ours}", "the expected ones")
    for number, (mine, expected) in enumerate(zip(ours.samples, theirs.samples)):
        if not _equal(mine, expected):
            if len(ours.samples) > 1 and not any(ours.samples):
                return f"{ours} of zeros", f"{theirs} with {expected:.6g} at sample {number + 1}"
            return f"{ours} with {mine!r}", f"{expected!r} at sample {number + 1}"
    return f"another {ours}", "the expected one"


def _shown(value: object) -> str | None:
    if value is _MISSING:
        return None
    if isinstance(value, str):
        return _quoted(value)
    return str(value) if isinstance(value, Array) else repr(value)
