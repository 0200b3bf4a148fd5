"""Diffs of notebooks for people."""

from made_notebooks import HEAD_REPLACED, notebook

from devfix.model import FileChange, Patch
from devfix.report import terminal_diff
from devfix.vcs import unified_diff

OLD = notebook(*HEAD_REPLACED, "")
NEW = notebook(*HEAD_REPLACED[:2], "model[1] = nn.Linear(8, 2)\nmodel.to(device)", HEAD_REPLACED[3], "new")


def test_each_cell_that_differs_is_a_file_of_its_own():
    assert list(terminal_diff.lines("a.ipynb", OLD, NEW)) == [
        *("--- a/a.ipynb:cell 3", "+++ b/a.ipynb:cell 3", "@@ -1 +1,2 @@"),
        *(" model[1] = nn.Linear(8, 2)", "+model.to(device)"),
        *("--- a/a.ipynb:cell 5", "+++ b/a.ipynb:cell 5", "@@ -0,0 +1 @@", "+new"),
    ]


def test_magics_are_shown_as_they_stand():
    assert "-%%time" in terminal_diff.lines("a.ipynb", OLD, OLD.replace(b"%%time", b"%%capture"))


def test_other_files_and_broken_notebooks_are_shown_by_line():
    assert list(terminal_diff.lines("a.py", b"a\n", b"b\n")) == ["--- a/a.py", "+++ b/a.py", "@@ -1 +1 @@", "-a", "+b"]
    assert "+{torch" in terminal_diff.lines("a.ipynb", OLD, b"{torch")
    assert "+++ b/a.ipynb:cell 1" not in terminal_diff.lines("a.ipynb", OLD, notebook("import torch"))


def test_a_patch_without_notebooks_is_readable_as_it_is(tmp_path):
    python = FileChange(str(tmp_path / "a.py"), b"a\n", b"b\n")

    assert terminal_diff.notebook_diff(Patch((python,))) is None
    shown = terminal_diff.notebook_diff(Patch((FileChange(str(tmp_path / "a.ipynb"), OLD, NEW), python))).decode()
    assert "a.ipynb:cell 3\n" in shown and shown.endswith("-a\n+b\n")


def test_colours_are_for_terminals_and_say_the_same(capsys):
    patch = Patch((FileChange("a.py", b"a = '[bold]'\r\n", b"a = '\x1b[2J'\r\n"),))

    terminal_diff.print_coloured(unified_diff.unified(patch))

    assert capsys.readouterr().out.splitlines()[-2:] == ["-a = '[bold]'", "+a = '\\x1b[2J'"]
