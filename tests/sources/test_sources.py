"""Reading, finding and writing files."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devfix import sources
from devfix.model import FileChange


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, "-c", "init.defaultBranch=main", *arguments], check=True, capture_output=True)


def put(folder, *names, content=b"x = 1\n"):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def found(folder, monkeypatch, *paths, **options):
    monkeypatch.chdir(folder)
    return list(sources.discover(paths or ["."], **options).files)


@pytest.mark.parametrize(
    ("raw", "text", "encoding", "bom"),
    [
        pytest.param(b"", "", "utf-8", False, id="empty"),
        pytest.param(b"x = 1", "x = 1", "utf-8", False, id="no-final-newline"),
        pytest.param(b"\xef\xbb\xbfx = 1\r\n", "x = 1\r\n", "utf-8", True, id="bom-crlf"),
        pytest.param(b"a\r\nb\nc\rd", "a\r\nb\nc\rd", "utf-8", False, id="mixed-newlines"),
        pytest.param(b"# coding: latin-1\n'\xe9'", "# coding: latin-1\n'\xe9'", "iso8859-1", False, id="cookie"),
        pytest.param(
            b"#!x\r# coding=cp1252\r'\x80'", "#!x\r# coding=cp1252\r'\u20ac'", "cp1252", False, id="second-line"
        ),
        pytest.param(b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n", "utf-8", False, id="cookie-too-late"),
        pytest.param(b"x = '# coding: ascii'\n'\xc3\xa9'", "x = '# coding: ascii'\n'é'", "utf-8", False, id="in-code"),
    ],
)
def test_text_is_decoded_as_python_does_and_comes_back_byte_for_byte(raw, text, encoding, bom):
    file = sources.decode("a.py", raw)

    assert (file.text, file.encoding, file.bom) == (text, encoding, bom)
    assert sources.encode(file, file.text) == raw


@pytest.mark.parametrize(
    ("raw", "line", "message"),
    [
        pytest.param(b"a = 1\nb\0", 2, "NUL bytes", id="nul"),
        pytest.param("x = 1".encode("utf-16"), 1, "UTF-16", id="utf-16"),
        pytest.param(b"x\n'\xe9'", 2, "not valid utf-8: byte 0xe9", id="not-utf-8"),
        pytest.param(b"# coding: ascii\n\n'\xe9'", 3, "not valid ascii", id="wrong-cookie"),
        pytest.param(b"# coding: klingon\n", 1, "unknown encoding 'klingon'", id="unknown-cookie"),
        pytest.param(b"# coding: rot13\n", 1, "rot", id="not-a-text-encoding"),
        pytest.param(b"\xef\xbb\xbf# coding: latin-1\n", 1, "byte-order mark", id="bom-against-cookie"),
        pytest.param(b"# coding: utf-7\n'+AGEAYg-'", 1, "byte for byte", id="several-spellings"),
    ],
)
def test_what_python_cannot_read_is_a_problem_with_a_line_and_advice(raw, line, message):
    with pytest.raises(sources.SourceError) as caught:
        sources.decode("a.py", raw)

    problem = caught.value.problem
    assert (problem.path, problem.line) == ("a.py", line)
    assert message in problem.message
    assert problem.hint


@given(st.binary(max_size=60))
def test_bytes_are_either_kept_or_refused(raw):
    try:
        file = sources.decode("a.py", raw)
    except sources.SourceError:
        return

    assert sources.encode(file, file.text) == raw


def test_a_character_that_the_encoding_lacks_is_a_problem():
    file = sources.decode("a.py", b"# coding: latin-1\n")

    with pytest.raises(sources.SourceError, match="no bytes for '€'"):
        sources.encode(file, "# coding: latin-1\nx = '€'\n")


def test_git_decides_what_is_in_a_folder(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    put(tmp_path, "tracked.py", "untracked.py", "pkg/inner.py", "data.txt", "scratch/ignored.py", "gone.py")
    (tmp_path / ".gitignore").write_text("scratch/\n")
    git(tmp_path, "add", "tracked.py", "pkg", "gone.py")
    (tmp_path / "gone.py").unlink()

    assert found(tmp_path, monkeypatch) == ["pkg/inner.py", "tracked.py", "untracked.py"]
    assert found(tmp_path, monkeypatch, "pkg") == ["pkg/inner.py"]
    assert found(tmp_path, monkeypatch, "scratch/ignored.py") == ["scratch/ignored.py"], "given by name"
    assert found(tmp_path, monkeypatch, "scratch") == ["scratch/ignored.py"], "a folder given by name, too"


def test_a_repository_cannot_make_devfix_run_programs(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    put(tmp_path, "a.py")
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(hook))

    assert found(tmp_path, monkeypatch) == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_variables_of_a_git_hook_do_not_lead_elsewhere(tmp_path, monkeypatch):
    here, other = tmp_path / "here", tmp_path / "other"
    for folder in (here, other):
        folder.mkdir()
        git(folder, "init", "-q")
    put(here, "a.py")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))

    assert found(here, monkeypatch) == ["a.py"]


@pytest.mark.parametrize("with_git", [True, False], ids=["repository", "no-repository"])
def test_environments_caches_and_builds_are_skipped(tmp_path, monkeypatch, with_git):
    if with_git:
        git(tmp_path, "init", "-q")
    put(
        tmp_path,
        "a.py",
        "stub.pyi",
        "window.pyw",
        "build/b.py",
        ".venv/c.py",
        "x/node_modules/d.py",
        "x/__pycache__/e.py",
    )
    put(tmp_path, "lib/site-packages/f.py", ".tox/g.py", "env/pyvenv.cfg", "env/lib/h.py")

    assert found(tmp_path, monkeypatch) == ["a.py", "window.pyw"]
    assert found(tmp_path, monkeypatch, "lib/site-packages") == ["lib/site-packages/f.py"], "the folder given is wanted"


def test_without_git_nested_gitignore_files_count(tmp_path, monkeypatch):
    put(tmp_path, "a.py", "out/b.py", "pkg/tmp_c.py", "pkg/d.py", "pkg/keep/tmp_e.py", "pkg/sub/only.py")
    (tmp_path / ".gitignore").write_text("out/\ntmp_*.py\n")
    (tmp_path / "pkg/.gitignore").write_text("/sub\n")
    (tmp_path / "pkg/keep/.gitignore").write_text("!tmp_e.py\n")

    assert found(tmp_path, monkeypatch) == ["a.py", "pkg/d.py", "pkg/keep/tmp_e.py"]


def test_a_repository_without_the_git_program_is_read_by_its_gitignore_files(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    put(tmp_path, "pkg/a.py", "pkg/b_gen.py")
    (tmp_path / ".gitignore").write_text("*_gen.py\n")
    monkeypatch.setenv("PATH", "")

    assert found(tmp_path, monkeypatch) == ["pkg/a.py"]
    assert found(tmp_path, monkeypatch, "pkg") == ["pkg/a.py"]


def test_exclude_holds_for_what_is_found_and_not_for_what_is_named(tmp_path, monkeypatch):
    put(tmp_path, "a.py", "third_party/b.py", "deep/third_party/c.py")

    assert found(tmp_path, monkeypatch, exclude=["/third_party/"]) == ["a.py", "deep/third_party/c.py"]
    assert found(tmp_path, monkeypatch, "third_party/b.py", exclude=["/third_party/"]) == ["third_party/b.py"]


def test_generated_files_are_left_out_unless_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "written.py")
    put(tmp_path, "generated.py", content=b"# -*- x -*-\n# @" + b"generated by protoc\nx = 1\n")
    put(tmp_path, "mentions.py", content=b"\n" * 20 + b"# @" + b"generated\n")

    files, problems = sources.load(["."])
    assert [file.path for file in files] == ["mentions.py", "written.py"]
    assert problems == ()
    assert [file.path for file in sources.load(["generated.py"])[0]] == ["generated.py"]


def test_one_file_under_several_names_is_one_file(tmp_path, monkeypatch):
    put(tmp_path, "real.py", "pkg/other.py")
    (tmp_path / "a_link.py").symlink_to("real.py")
    (tmp_path / "dangling.py").symlink_to("nowhere.py")

    assert found(tmp_path, monkeypatch) == ["pkg/other.py", "real.py"]
    assert found(tmp_path, monkeypatch, ".", "./real.py", "pkg", "real.py") == ["./real.py", "pkg/other.py"]
    assert found(tmp_path, monkeypatch, "a_link.py") == ["a_link.py"]


def test_a_loop_of_links_ends(tmp_path, monkeypatch):
    put(tmp_path, "a/b/c.py")
    (tmp_path / "a/b/up").symlink_to(tmp_path / "a", target_is_directory=True)

    assert found(tmp_path, monkeypatch) == ["a/b/c.py"]


def test_missing_paths_and_empty_folders_are_problems_and_the_rest_is_found(tmp_path, monkeypatch):
    put(tmp_path, "a.py", "docs/readme.txt")
    monkeypatch.chdir(tmp_path)

    discovery = sources.discover(["nowhere.py", "docs", "a.py"])

    assert discovery.files == ("a.py",)
    assert [(problem.path, problem.message) for problem in discovery.problems] == [
        ("nowhere.py", "no such file or folder"),
        ("docs", "no Python files here"),
    ]


def test_what_cannot_be_read_is_a_problem_and_the_rest_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "a.py")
    put(tmp_path, "nul.py", content=b"\0")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "memory.py").symlink_to("/proc/self/mem")  # reading it fails, for root too

    files, problems = sources.load(["memory.py", "nul.py", "a.py"])

    assert [file.path for file in files] == ["a.py"]
    assert [problem.path for problem in problems] == ["memory.py", "nul.py"]
    found = [file.path for file in sources.load(["."])[0] if not file.notes]
    assert found == ["a.py"], "a pipe in a folder does not block"


def test_a_pipe_given_by_name_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")

    _, problems = sources.load([str(tmp_path / "pipe.py")])

    assert problems[0].message == "not a regular file"


def test_permission_denied_names_the_file(tmp_path, monkeypatch):
    put(tmp_path, "a.py")
    path = str(tmp_path / "a.py")

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(sources.SourceError, match="permission denied") as caught:
        sources.read(path)
    assert caught.value.problem.path == path


def test_a_write_keeps_mode_and_link(tmp_path):
    real, link = tmp_path / "deep" / "real.py", tmp_path / "link.py"
    put(tmp_path, "deep/real.py", content=b"old\r\n")
    real.chmod(0o754)
    link.symlink_to("deep/real.py")

    sources.write(FileChange(str(link), b"old\r\n", b"new\r\n"))

    assert link.is_symlink()
    assert real.read_bytes() == b"new\r\n"
    assert real.stat().st_mode & 0o7777 == 0o754
    assert os.listdir(tmp_path / "deep") == ["real.py"], "no temporary file stays"


def test_a_file_that_changed_since_it_was_read_is_not_written(tmp_path):
    put(tmp_path, "a.py", content=b"somebody else's\n")

    with pytest.raises(sources.SourceError, match="changed while devfix worked"):
        sources.write(FileChange(str(tmp_path / "a.py"), b"old\n", b"new\n"))

    assert (tmp_path / "a.py").read_bytes() == b"somebody else's\n"
    assert os.listdir(tmp_path) == ["a.py"]


def test_a_read_only_file_is_not_written_even_by_root(tmp_path):
    put(tmp_path, "a.py", content=b"old\n")
    (tmp_path / "a.py").chmod(0o444)

    with pytest.raises(sources.SourceError, match="read-only"):
        sources.write(FileChange(str(tmp_path / "a.py"), b"old\n", b"new\n"))

    assert (tmp_path / "a.py").read_bytes() == b"old\n"


@pytest.mark.parametrize("step", ["os.fsync", "os.chmod", "os.replace"])
@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "ctrl-c"]
)
def test_a_failed_or_interrupted_write_leaves_the_old_bytes_and_nothing_else(tmp_path, monkeypatch, step, failure):
    put(tmp_path, "a.py", content=b"old\n")

    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(step, fail)
    with pytest.raises((sources.SourceError, KeyboardInterrupt)) as caught:
        sources.write(FileChange(str(tmp_path / "a.py"), b"old\n", b"new\n"))
    monkeypatch.undo()

    assert isinstance(failure, KeyboardInterrupt) or "No space left on device" in str(caught.value)
    assert (tmp_path / "a.py").read_bytes() == b"old\n"
    assert os.listdir(tmp_path) == ["a.py"]


def test_kill_in_the_middle_of_writes_leaves_old_or_new_bytes(tmp_path):
    path = tmp_path / "a.py"
    old, new = b"# old\n" * 40_000, b"# new\n" * 50_000
    path.write_bytes(old)
    writer = textwrap.dedent(
        f"""
        from devfix.model import FileChange
        from devfix.sources import write
        old, new = b"# old\\n" * 40_000, b"# new\\n" * 50_000
        print("ready", flush=True)
        while True:
            write(FileChange({str(path)!r}, old, new))
            write(FileChange({str(path)!r}, new, old))
        """
    )
    root = pathlib.Path(__file__).parents[2]
    for round_number in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", writer], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(root)}
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(timeout=0.01 + 0.007 * round_number)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL

        assert path.read_bytes() in (old, new)
        path.write_bytes(old)


def test_the_root_of_a_diff(tmp_path, monkeypatch):
    outer, inner, loose = tmp_path / "outer", tmp_path / "inner", tmp_path / "loose"
    put(outer, "pkg/a.py")
    put(inner, "b.py")
    put(loose, "project/pyproject.toml", "project/pkg/c.py")
    git(outer, "init", "-q")
    git(inner, "init", "-q")
    monkeypatch.chdir(inner)

    assert sources.diff_root([str(outer / "pkg/a.py")]) == str(outer), "the repository"
    assert sources.diff_root([str(outer / "pkg/a.py"), "b.py"]) == str(tmp_path), "what holds both repositories"
    assert sources.diff_root([str(loose / "project/pkg/c.py")]) == str(loose / "project"), "the project"
    monkeypatch.chdir(loose)
    assert sources.diff_root(["project/pkg/c.py"]) == str(loose), "where git apply would run"
    assert sources.display("project/pkg/c.py", str(loose)) == "project/pkg/c.py"
