"""Rules as LibCST commands, with a toy engine in the place of the real one."""

from __future__ import annotations

import pickle
import subprocess
import sys
import types
from pathlib import Path

import libcst as cst
import pytest
from libcst.codemod import CodemodCommand, CodemodContext

from devfix.engine.libcst_command import command_for
from devfix.rules.rule import Rule

ROOT = Path(__file__).parents[2]

TOY = """
import sys
import types

from devfix.rules.rule import Rule

engine = types.ModuleType("devfix.engine.fixpoint")
engine.fix_text = lambda path, text, codes: text.replace("old", "new")
sys.modules["devfix.engine.fixpoint"] = engine


def detect(facts):
    return ()


RULE = Rule("DEV999", "toy-rule", "Renames old.", "", detect)


def __getattr__(name):
    if name == "ToyRule":
        from devfix.engine.libcst_command import command_for

        return command_for(RULE)
    raise AttributeError(name)


def __dir__():
    return [*globals(), "ToyRule"]
"""


def detect(facts):
    return ()


RULE = Rule("DEV999", "toy-rule", "Renames old.", "", detect)
ToyRule = command_for(RULE)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, tuple[str, ...]]]:
    """What the engine was asked; it renames ``old``."""
    asked: list[tuple[str, str, tuple[str, ...]]] = []

    def fix_text(path: str, text: str, codes: tuple[str, ...]) -> str:
        asked.append((path, text, codes))
        return text.replace("old", "new")

    engine = types.ModuleType("devfix.engine.fixpoint")
    vars(engine)["fix_text"] = fix_text
    monkeypatch.setitem(sys.modules, "devfix.engine.fixpoint", engine)
    return asked


def run(text: str, filename: str | None = "train.py") -> tuple[cst.Module, cst.Module]:
    module = cst.parse_module(text)
    return module, ToyRule(CodemodContext(filename=filename)).transform_module(module)


def test_the_command_is_named_and_described_by_its_rule() -> None:
    assert issubclass(ToyRule, CodemodCommand)
    assert ToyRule.__name__ == "ToyRule"
    assert ToyRule.__module__ == __name__
    assert ToyRule.DESCRIPTION == "Renames old."


def test_the_command_asks_the_engine_for_its_rule_only(calls) -> None:
    _, result = run("old = 1  # c\r\n")
    assert result.code == "new = 1  # c\r\n"
    assert calls == [("train.py", "old = 1  # c\r\n", ("DEV999",))]


def test_an_unchanged_module_is_the_same_object(calls) -> None:
    module, result = run("other = 1\n")
    assert result is module
    assert len(calls) == 1


def test_text_from_stdin_has_a_name_too(calls) -> None:
    run("old = 1\n", filename=None)
    assert calls[0][0] == "<stdin>"


def test_the_encoding_of_a_changed_module_stays(calls) -> None:
    source = "# coding: latin-1\nold = 'é'\n".encode("latin-1")
    result = ToyRule(CodemodContext(filename="a.py")).transform_module(cst.parse_module(source))
    assert result.bytes == source.replace(b"old", b"new")


def test_workers_can_get_the_command_by_name() -> None:
    assert command_for(RULE) is ToyRule
    assert pickle.loads(pickle.dumps(ToyRule)) is ToyRule


@pytest.mark.parametrize("configured", [False, True], ids=["external", "configured"])
def test_libcst_tool_runs_the_command(tmp_path: Path, configured: bool) -> None:
    package = tmp_path / "toys"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "toy_rule.py").write_text(TOY)
    script = tmp_path / "train.py"
    script.write_bytes(b"old = 1\r\n\r\nother = 'x'")
    if configured:
        (tmp_path / ".libcst.codemod.yaml").write_text("modules: [toys]\n")
        command = ["toy_rule.ToyRule"]
    else:
        command = ["-x", "toys.toy_rule.ToyRule"]
    libcst_tool("codemod", "--no-format", *command, "train.py", folder=tmp_path)
    assert script.read_bytes() == b"new = 1\r\n\r\nother = 'x'"


def test_libcst_tool_lists_the_command(tmp_path: Path) -> None:
    package = tmp_path / "toys"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "toy_rule.py").write_text(TOY)
    (tmp_path / ".libcst.codemod.yaml").write_text("modules: [toys]\n")
    assert libcst_tool("list", folder=tmp_path) == "toy_rule.ToyRule - Renames old.\n"


def libcst_tool(*arguments: str, folder: Path) -> str:
    path = {"PYTHONPATH": f"{ROOT}:{folder}"}
    command = [sys.executable, "-m", "libcst.tool", *arguments]
    done = subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
