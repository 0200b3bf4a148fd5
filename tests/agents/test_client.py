"""The client of the benchmark: it finds the command, counts, and repairs a program."""

from __future__ import annotations

import pytest

from benchmarks import pages
from benchmarks.agents.client import Attempt, attempt, named_command, tokens
from benchmarks.agents.programs import chosen, evenly_spaced, programs
from benchmarks.agents.tables import SECTION, markdown, totals

DONE = Attempt("a/b", 2, [300, 200], [1.0, 2.0], ["devfix apply a.py"], "fixed", 9.0)
FAILED = Attempt("c/d", 1, [400], [3.0], [], "", 4.0)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("x\ndevfix: next; next: devfix apply 'a b.py' --diff; proof\n", ["devfix", "apply", "a b.py", "--diff"]),
        ("devfix: 2 findings; next: devfix apply .\n", ["devfix", "apply", "."]),
        ("devfix: no findings; next: nothing to do\n", []),
        ("+# devfix; next: devfix clean\ndevfix: no findings; next: nothing to do\n", []),
    ],
)  # fmt: skip
def test_the_command_is_that_of_the_last_line(answer, words):
    assert named_command(answer) == words


def test_tokens_grow_with_words_signs_and_lines():
    assert tokens("") == 0
    assert tokens("model.to(device)") == 1 + 1 + 1 + 1 + 2 + 1
    assert tokens("x = 12345\n") == 1 + 1 + 2 + 1


def test_forty_programs_are_chosen_half_of_them_in_several_files():
    found = chosen(40)

    assert len({program.name for program in found}) == 40
    assert sum(program.files > 1 for program in found) >= 20
    assert all((program.tree / program.case["script"]).is_file() for program in found)


def test_of_few_items_all_are_chosen():
    few = programs()[:3]

    assert evenly_spaced(few, 5) == few
    assert evenly_spaced(few, 2) == [few[0], few[1]]


def test_figures_count_verified_repairs_and_all_answers(tmp_path):
    found = totals([DONE, FAILED])

    assert found.startswith("1 of 2 programs are repaired and verified. An answer has 300 tokens in the median, 400")
    assert "2.0 s in the median, 3.0 s at most (3 answers)" in found
    assert totals([]) == "0 of 0 programs are repaired; no program failed with a message."
    page = tmp_path / "page.md"
    pages.create(page, "Agents", SECTION)
    pages.rewrite(page, SECTION, markdown([DONE, FAILED], "2.13"))
    assert "| a/b | 2 | 2 | 300, 200 | 1.0, 2.0 | fixed |\n| c/d | 1 | 1 | 400 | 3.0 | no edit |" in page.read_text()


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["batch_not_moved/logger_in_other_file", "incidents/retinanet_focal_targets"])
def test_the_client_repairs_a_program_of_several_files(name):
    pytest.importorskip("torch")
    (program,) = (each for each in programs() if each.name == name)

    made = attempt(program)

    assert made.verdict == "fixed"
    assert len(made.commands) == 1 and made.commands[0].startswith("devfix apply ")
    assert len(made.tokens) == len(made.seconds) == 1 and made.tokens[0] < 600
