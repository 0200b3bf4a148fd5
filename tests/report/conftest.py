"""A run with one finding of each fate."""

import pytest

from devfix.model import (
    AppendCode,
    Event,
    FileChange,
    Finding,
    Outcome,
    Patch,
    Problem,
    Remedy,
    Resolution,
    Safety,
    Severity,
    Span,
    Status,
)

SPAN = Span(23, 4, 23, 10)
EVENTS = (
    Event("moved", "train.py", 18, 0, "model = Net().to(device)", "the model moves here"),
    Event("created", "lib/data.py", 7, 8, "return x, y", "`labels` is created here, on the CPU"),
    Event("used", "train.py", 27, 11, "loss = criterion(model(images), labels)", "fails here"),
)


def remedy(safety=Safety.SAFE):
    return Remedy("move `labels` to `device`", (AppendCode("train.py", SPAN, ".to(device)"),), safety)


def finding(code="DEV101", **changes):
    given = {
        "code": code,
        "name": "batch-not-moved",
        "severity": Severity.ERROR,
        "path": "train.py",
        "span": SPAN,
        "message": "`labels` stays on the CPU",
        "events": EVENTS,
        "remedies": (remedy(),),
    }
    return Finding(**{**given, **changes})


@pytest.fixture
def resolutions():
    """One of each: fixed, fixable, not-fixed, suppressed."""
    unsafe = remedy(Safety.UNSAFE)
    return {
        "fixed": Resolution(finding(), Status.FIXED, remedy=remedy()),
        "fixable": Resolution(finding("DEV102", severity=Severity.LATENT, remedies=(unsafe,)), Status.FIXABLE),
        "not-fixed": Resolution(finding("DEV201", remedies=(), reason="the file is not yours"), Status.NOT_FIXED),
        "suppressed": Resolution(finding("DEV301", severity=Severity.ADVICE), Status.SUPPRESSED),
    }


@pytest.fixture
def outcome(resolutions):
    return Outcome(
        resolutions=tuple(resolutions.values()),
        patch=Patch((FileChange("train.py", b"old\n", b"new\n"),)),
        problems=(Problem("odd.py", "not valid utf-8: byte 0xe9", 3, "save it as UTF-8"),),
        checked=4,
        notes=(Problem("train.py", "unused suppression (DEV999)", 9, "remove the comment"),),
    )
