"""What is told of findings once a patch is written."""

from devfix.engine.edited_lines.line_mapping import relocated
from devfix.model import Event, FileChange, Finding, Outcome, Patch, Problem, Resolution, Severity, Span, Status
from devfix.sources import decode

OLD = b"a = 1\nb = f(a)\nc = b\n"
NEW = b"a = 1\na = a.to(d)\nb = f(a, 0)\nc = b\n"


def found(path, line, status=Status.NOT_FIXED):
    events = (Event("used", path, line, 0, OLD.decode().splitlines()[line - 1], ""),)
    return Resolution(Finding("DEV101", "", Severity.ERROR, path, Span(line, 0, line, 1), "", events), status)


def outcome(*resolutions, **more):
    return Outcome(resolutions, Patch((FileChange("./in/a.py", OLD, NEW),)), **more)


def places(told):
    return [(item.finding.span.line, item.finding.events[0].line) for item in told.resolutions]


def test_what_is_left_moves_and_shows_the_lines_that_stand_there():
    told, _ = relocated(outcome(found("in/a.py", 2), found("in/a.py", 3, Status.SUPPRESSED)), ())

    assert places(told) == [(3, 3), (4, 4)]
    assert [item.finding.events[0].source for item in told.resolutions] == ["b = f(a, 0)", "c = b"]


def test_what_was_fixed_stays_where_it_was_and_so_does_another_file():
    told, _ = relocated(outcome(found("in/a.py", 2, Status.FIXED), found("in/b.py", 2)), ())

    assert places(told) == [(2, 2), (2, 2)]
    assert told.resolutions[0].finding.events[0].source == "b = f(a)"


def test_a_story_moves_where_its_file_has_changed():
    item = found("in/a.py", 3)
    elsewhere = Resolution(
        Finding("DEV101", "", Severity.ERROR, "b.py", Span(3, 0, 3, 1), "", item.finding.events), item.status
    )

    told, _ = relocated(outcome(elsewhere), ())

    assert places(told) == [(3, 4)]


def test_problems_and_notes_move():
    told, _ = relocated(outcome(problems=(Problem("in/a.py", "bad", 3),), notes=(Problem("in/a.py", "unused", 2),)), ())

    assert (told.problems[0].line, told.notes[0].line) == (4, 3)


def test_findings_are_in_the_order_of_their_places_of_now():
    told, _ = relocated(outcome(found("in/a.py", 2), found("in/a.py", 3, Status.FIXED)), ())

    assert [item.status for item in told.resolutions] == [Status.NOT_FIXED, Status.FIXED]
    assert places(told) == [(3, 3), (3, 3)]


def test_the_files_are_those_after_the_patch():
    files = decode("in/a.py", OLD), decode("in/b.py", OLD)

    _, now = relocated(outcome(), files)

    assert [file.raw for file in now] == [NEW, OLD]


def test_without_a_patch_nothing_is_touched():
    untouched = Outcome((found("in/a.py", 2),))

    assert relocated(untouched, ())[0] is untouched
