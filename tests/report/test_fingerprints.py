"""Hashes of lines as code scanning computes them, character by character."""

import random

import pytest

from devfix.report.findings.fingerprints import line_hashes

END = 65535
MASK = (1 << 64) - 1


def rolled(raw):
    """GitHub's way, as it describes it: a rolling hash over a window of 100, line numbers beside it."""
    data = raw.decode("utf-8", "replace").encode("utf-16-le")
    units = [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)] + [END]
    window, lines, at = [0] * 100, [-1] * 100, 0
    value, number, starts, after_return = 0, 0, True, False
    first, counts, found = pow(37, 100, 1 << 64), {}, {}

    def out():
        counts[value] = counts.get(value, 0) + 1
        found[lines[at]] = f"{value:x}:{counts[value]}"
        lines[at] = -1

    def add(unit):
        nonlocal value, at
        gone, window[at] = window[at], unit
        value = (37 * value + unit - first * gone) & MASK
        at = (at + 1) % 100

    for unit in units:
        if unit in (32, 9) or (after_return and unit == 10):
            after_return = False
            continue
        after_return = unit == 13
        unit = 10 if unit == 13 else unit
        if lines[at] != -1:
            out()
        if starts:
            number, starts = number + 1, False
            lines[at] = number
        starts = unit == 10
        add(unit)
    for _ in range(100):
        if lines[at] != -1:
            out()
        add(0)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_hashes_are_those_of_code_scanning(seed):
    chosen = random.Random(seed)
    parts = ["x = 1", "\n", "\r\n", "\r", "  ", "\t", "naïve", "😀", "y" * 60, "for a in b:", "\x0c", "\ufeff"]
    raw = "".join(chosen.choice(parts) for _ in range(chosen.randrange(120))).encode() + chosen.choice([b"", b"\xff\n"])

    expected = rolled(raw)

    assert line_hashes(raw, expected) == expected


def test_lines_that_are_alike_are_counted():
    hashes = line_hashes(b"a = 1\n" * 40, [1, 2, 3])

    assert len(set(hashes.values())) == 3 and {mark.split(":")[0] for mark in hashes.values()} == {
        hashes[1].split(":")[0]
    }


def test_only_what_is_asked_for_is_told():
    assert list(line_hashes(b"a\nb\nc\n", [2, 9])) == [2]
