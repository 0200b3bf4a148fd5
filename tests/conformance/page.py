"""docs/development/conformance.md: how far to trust the simulated device, in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import torch

from conformance.agreement import Comparison, Expected, Pair
from conformance.probes import HAND

__all__ = ["page", "summary"]

#: Operator, or operator and beginning of the probe's name -> why the simulator does something else there.
REASONS: dict[str, str] = {}

_KINDS = (
    (HAND, "calls written by hand"),
    ("all", "all on the accelerator"),
    ("host", "one tensor left on the CPU"),
    ("only", "one tensor moved alone"),
    ("zero", "a tensor of dimension 0 elsewhere"),
    ("out", "`out=` elsewhere"),
    ("inplace", "in place"),
)
_WORDS_SHOWN = 25
_STANDIN = (
    "The stand-in runtime (`tests/conformance/standin`) is a CUDA runtime whose kernels do nothing, under PyTorch's "
    "own CUDA build. PyTorch compares devices in host code, before a kernel starts, so what is recorded is PyTorch's "
    "own answer in its own words; numbers mean nothing there, and what depends on them or on a library's answer "
    "(cuDNN, cuSOLVER) is undecided. A recording from a GPU (`nox -s record-cuda`) takes its place once there is one."
)


def summary(expected: Expected, found: Comparison) -> str:
    """With what it was compared, and how it came out."""
    same = torch.__version__.split("+")[0] == expected.head["torch"].split("+")[0]
    refusals = found.refusals
    return (
        f"torch {torch.__version__} on the simulated device, against what torch {expected.head['torch']} said"
        f"{'' if same else ' (the nearest version of which there is a recording)'}; recorded on "
        f"{expected.head['source']}{'' if expected.real else ', not on a GPU'}.\n"
        f"{found.percentage:.2f} % of {len(found.agreed) + len(found.disagreed)} probes agree, "
        f"{len(found.disagreed)} do not. "
        f"{len(refusals) - len(found.other_words)} of {len(refusals)} refusals are the same word for word. "
        f"{len(found.undecided)} probes are undecided in the recording, {found.missing} are not in it."
    )


def _kind(pair: Pair) -> str:
    words = pair.probe.split(" ")
    if pair.group == HAND:
        return HAND
    for kind in ("inplace", "zero", "out"):
        if any(word.startswith(kind) for word in words):
            return kind
    return words[-1].rstrip("0123456789")


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _by_kind(found: Comparison) -> Iterable[str]:
    agreed, disagreed, undecided = (
        Counter(map(_kind, pairs)) for pairs in (found.agreed, found.disagreed, found.undecided)
    )
    yield from (_row("probes", "agree", "disagree", "undecided"), "|---|---|---|---|")
    for kind, words in _KINDS:
        yield _row(words, agreed[kind], disagreed[kind], undecided[kind])


def _reason(pair: Pair) -> str:
    for key in (f"{pair.group} {pair.probe}", pair.group):
        for name, reason in REASONS.items():
            if key == name or (" " in name and key.startswith(name)):
                return reason
    return "not known"


def _origin(text: str) -> str:
    """Why a probe says nothing: the beginning of what the recording machine answered."""
    return text.split("(")[0].split(": '")[0][:90].strip()


def page(expected: Expected, found: Comparison, opinions: Iterable[str] = ()) -> str:
    """The whole page as Markdown."""
    lines = ["# Conformance", "", summary(expected, found), ""]
    if not expected.real:
        lines += [_STANDIN, ""]
    lines += ["Made by `nox -s conformance -- --table docs/development/conformance.md`.", "", *_by_kind(found), ""]
    lines += [
        "## Disagreements",
        "",
        _row("operator", "probe", "recorded", "simulated", "reason"),
        "|---|---|---|---|---|",
    ]
    lines += [
        _row(pair.group, pair.probe, pair.recorded[:110], pair.simulated[:110], _reason(pair))
        for pair in found.disagreed
    ]
    words = Counter((pair.recorded, pair.simulated) for pair in found.other_words)
    lines += ["", "## Refused in other words", "", f"The {_WORDS_SHOWN} most frequent of {len(words)}.", ""]
    lines += [_row("times", "recorded", "simulated"), "|---|---|---|"]
    lines += [_row(count, one[:230], other[:230]) for (one, other), count in words.most_common(_WORDS_SHOWN)]
    lines += ["", "## Undecided", "", _row("probes", "what the recording machine says"), "|---|---|"]
    lines += [
        _row(count, text) for text, count in Counter(_origin(p.recorded) for p in found.undecided).most_common(15)
    ]
    return "\n".join([*lines, "", *opinions]).rstrip() + "\n"
