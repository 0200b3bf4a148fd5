"""The configurations of docs/how-to/editors.md: run in Neovim if it is there, parsed for the others."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import devfix
from devfix.cli.commands.lsp import command as lsp_command
from devfix.lsp.settings import Wishes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "editors.md").read_text(encoding="utf-8")
EDITORS = ROOT / "editors"
BROKEN = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
x = torch.randn(8, 4)
print(model(x))
"""
#: Reports the diagnostics and the code actions of the open file, and ends.
ASK = """
local function finish(found) io.stdout:write(vim.json.encode(found)) vim.cmd("qall!") end
vim.defer_fn(function() finish({ timeout = true }) end, 60000)
vim.api.nvim_create_autocmd("DiagnosticChanged", {
  callback = function(event)
    local found = vim.diagnostic.get(event.buf)
    if #found == 0 then return end
    local client = vim.lsp.get_clients({ name = "devfix" })[1]
    local at = { line = found[1].lnum, character = found[1].col }
    local asked = {
      textDocument = vim.lsp.util.make_text_document_params(event.buf),
      range = { start = at, ["end"] = at },
      context = { diagnostics = {} },
    }
    local answer = client:request_sync("textDocument/codeAction", asked, 30000, event.buf)
    local titles = vim.tbl_map(function(action) return action.title end, answer.result)
    finish({ codes = vim.tbl_map(function(each) return each.code end, found), titles = titles, root = client.root_dir })
  end,
})
"""


def snippet(heading: str, language: str) -> str:
    """Return the first code block of a language under a heading that begins so."""
    section = re.search(rf"^## {heading}.*?(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    block = re.search(rf"```{language}\n(.*?)```", section[0], flags=re.DOTALL)
    assert block is not None
    return block[1]


def neovim() -> str:
    """Return a Neovim with ``vim.lsp.config``, which 0.11 has; DEVFIX_NVIM names one that is not on PATH."""
    program = os.environ.get("DEVFIX_NVIM") or shutil.which("nvim")
    if program is None:
        pytest.skip("no Neovim: nox -s editors")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", version)
    assert found is not None
    if (int(found[1]), int(found[2])) < (0, 11):
        pytest.skip(f"{version.splitlines()[0]} has no vim.lsp.config: nox -s editors")
    return program


def test_neovim_shows_the_finding_and_its_fix(tmp_path):
    program = neovim()
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "devfix"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m devfix "$@"\n')
    launcher.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    (project / "train.py").write_text(BROKEN)
    (tmp_path / "init.lua").write_text(snippet("Neovim", "lua") + ASK)

    done = subprocess.run(
        [program, "--headless", "--clean", "-u", tmp_path / "init.lua", project / "train.py"],
        env={
            **os.environ,
            "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    found = json.loads(done.stdout or "{}")
    assert found.get("codes") == ["DEV102"], done.stderr
    assert "DEV102: move `x`" in found["titles"]
    assert found["root"] == str(project)


def test_the_snippet_for_helix_starts_the_server():
    document = tomllib.loads(snippet("Helix", "toml"))

    server = document["language-server"]["devfix"]
    assert starts_the_server([server["command"], *server["args"]])
    assert Wishes.of(server["config"]).severity == "error"
    (language,) = document["language"]
    assert language["name"] == "python"
    assert "devfix" in language["language-servers"]


def test_the_snippet_for_zed_has_settings_of_the_server():
    document = json.loads(snippet("Zed", "json"))

    assert Wishes.of(document["lsp"]["devfix"]["settings"]).severity == "error"
    assert "devfix" in document["languages"]["Python"]["language_servers"]


def test_the_extension_for_zed_registers_the_server_for_python():
    manifest = tomllib.loads((EDITORS / "zed" / "extension.toml").read_text(encoding="utf-8"))
    crate = tomllib.loads((EDITORS / "zed" / "Cargo.toml").read_text(encoding="utf-8"))

    assert manifest["schema_version"] == 1
    assert manifest["language_servers"]["devfix"]["languages"] == ["Python"]
    assert manifest["version"] == crate["package"]["version"] == devfix.__version__
    assert crate["lib"]["crate-type"] == ["cdylib"]
    assert f'"{lsp_command.name}"' in (EDITORS / "zed" / "src" / "lib.rs").read_text(encoding="utf-8")


def starts_the_server(command: list[str]) -> bool:
    program, verb, *options = command
    known = {option for each in lsp_command.params for option in each.opts}
    return program == "devfix" and verb == lsp_command.name and set(options) <= known
