"""The claim itself: each broken program dies, its repaired twin does not, and trains as it does on one device."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

CORPUS = Path(__file__).parents[2] / "corpus"


def load():
    spec = importlib.util.spec_from_file_location("corpus_verdicts", CORPUS / "verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    before = list(sys.path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


verdicts = load()
CASES = {case.name: case for case in verdicts.cases()}


def test_the_corpus_is_there():
    assert len(CASES) > 70


@pytest.mark.parametrize("name", CASES)
def test_a_broken_program_is_fixed_under_the_simulator(name):
    found = verdicts.verdict(CASES[name])

    assert found.word == "fixed", found.reason
    if CASES[name].meta["error"] != "silent":
        assert CASES[name].meta["error"] in found.runs["original/device"].failure.text


def test_the_table_has_a_row_for_each_case(tmp_path, capsys):
    table = tmp_path / "docs" / "table.md"

    code = verdicts.main(["seeds/recognize_anything", "--table", str(table)])

    lines = table.read_text(encoding="utf-8").splitlines()
    assert (code, lines[0]) == (0, "# Verification")
    assert "on a simulated CUDA device, torch " in lines[2]
    assert lines[-1].startswith("| seeds/recognize_anything | ") and lines[-1].endswith(" | fixed | 0 |")
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1 are fixed."
