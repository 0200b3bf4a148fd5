"""The commands of the pages print what the pages show."""

import re
import shutil
import sys

import pytest
import transcripts

DOCS = transcripts.ROOT / "docs"
PAGES = [
    page.relative_to(DOCS).as_posix()
    for page in transcripts.pages()
    if page.is_relative_to(DOCS)
    and (page.parent.name != "errors" or page.stem == "index")  # tests/docs/test_error_pages.py, in this process
    and any(step.command for step in transcripts.steps(page.read_text(encoding="utf-8")))
]


LONG = ("development/usability.md", "tutorials/first-repair.md")  # a minute; see also nox -s tutorial


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough) if name in LONG else name for name in PAGES]
)
def test_the_commands_of_a_page_print_what_it_shows(name, tmp_path):
    if name == "how-to/trace.md" and sys.version_info < (3, 11):
        pytest.skip("a birth is known by its line only")
    folder = tmp_path / "nets"
    folder.mkdir()

    for step in transcripts.steps((DOCS / name).read_text(encoding="utf-8")):
        step.prepare(folder)
        if not step.command:
            continue
        printed = transcripts.run(step.command, folder)
        assert transcripts.same(step.shown, printed), (
            f"$ {step.command}\n{printed}\nis not what {name} shows; write it there with:"
            f" python tests/docs/transcripts.py docs/{name}"
        )


def test_the_traceback_of_the_tutorial_is_that_of_its_script():
    page = (DOCS / "tutorials/first-repair.md").read_text(encoding="utf-8")
    files = {step.name: step.shown for step in transcripts.steps(page) if step.name}
    source, traceback = files["train.py"].splitlines(), files["error.txt"].splitlines()
    frames = [
        (int(frame[1]), traceback[number + 1].strip())
        for number, line in enumerate(traceback)
        if (frame := re.search(r'nets/train.py", line (\d+)', line))
    ]

    assert [source[line - 1].strip() for line, _ in frames] == [shown for _, shown in frames]
    assert re.search(rf"RuntimeError at .*\n +train\.py:{frames[-1][0]}\n", page), "the runs fail where it says"
    assert f"original error: {traceback[-1].removeprefix('RuntimeError: ')}." in page, "the proof has the same message"


def test_another_output_is_noticed():
    assert transcripts.same("a 0.12345\n", "a 0.12346\n")
    assert not transcripts.same("a 0.123\n", "a 0.125\n")
    assert not transcripts.same("a\n", "a\nb\n")
    assert transcripts.same("a\n…\nd\n", "a\nb\nc\nd\n")
    assert not transcripts.same("a\n…\nd\n", "a\nb\nc\n")


def test_a_page_is_rewritten_by_what_its_commands_print(tmp_path):
    page = "<!-- file: a.txt -->\n```text\nhello\n```\n\n```console\n$ cat a.txt\nold\n$ echo 1 \\\n  2\n```\n"

    assert shutil.which("bash")
    assert transcripts.rewrite(page, tmp_path) == page.replace("old", "hello").replace("  2\n", "  2\n1 2\n")
