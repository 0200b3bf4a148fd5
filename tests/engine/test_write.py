"""What becomes of findings whose file could not be written."""

from devfix.engine.write import land
from devfix.model import (
    AppendCode,
    FileChange,
    Finding,
    Fix,
    Outcome,
    Patch,
    Resolution,
    Severity,
    Span,
    Status,
)

SPAN = Span(1, 0, 1, 1)


def repaired(path, *edited):
    fix = Fix("move it", tuple(AppendCode(name, SPAN, ".to(device)") for name in edited))
    finding = Finding("DEV101", "batch-not-moved", Severity.ERROR, path, SPAN, "", fixes=(fix,))
    return Resolution(finding, Status.FIXED, fix=fix)


def test_a_refused_file_takes_its_findings_with_it(tmp_path):
    good, stale = tmp_path / "good.py", tmp_path / "stale.py"
    good.write_bytes(b"old\n")
    stale.write_bytes(b"changed\n")
    outcome = Outcome(
        (repaired(str(good), str(good)), repaired(str(good), str(stale))),
        Patch((FileChange(str(good), b"old\n", b"new\n"), FileChange(str(stale), b"old\n", b"new\n"))),
    )

    landed = land(outcome)

    assert (good.read_bytes(), stale.read_bytes()) == (b"new\n", b"changed\n")
    assert [resolution.status for resolution in landed.resolutions] == [Status.FIXED, Status.NOT_FIXED]
    assert "changed while devfix worked" in landed.resolutions[1].reason
    assert [change.path for change in landed.patch.files] == [str(good)]
    assert [problem.path for problem in landed.problems] == [str(stale)]


def test_of_a_patch_that_is_proved_as_a_whole_no_part_is_written(tmp_path):
    good, stale = tmp_path / "good.py", tmp_path / "stale.py"
    good.write_bytes(b"old\n")
    stale.write_bytes(b"changed\n")
    outcome = Outcome(
        (repaired(str(good), str(good)), repaired(str(stale), str(stale))),
        Patch((FileChange(str(good), b"old\n", b"new\n"), FileChange(str(stale), b"old\n", b"new\n"))),
    )

    landed = land(outcome, whole=True)

    assert (good.read_bytes(), stale.read_bytes()) == (b"old\n", b"changed\n")
    assert [resolution.status for resolution in landed.resolutions] == [Status.NOT_FIXED, Status.NOT_FIXED]
    assert {resolution.reason for resolution in landed.resolutions} == {
        f"{stale} changed while devfix worked, so it was not written"
    }
    assert landed.patch.files == ()
    assert [problem.path for problem in landed.problems] == [str(stale)]
