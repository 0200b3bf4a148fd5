"""The life of the server: start, settings, folders, files that move, crashes, the end."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys

import pytest
from lsprotocol import types
from made_notebooks import notebook
from pygls.uris import from_fs_path

BROKEN = "import torch\n\nmodel = torch.nn.Linear(4, 2).cuda()\nx = torch.ones(3, 4)\nmodel(x)\n"
UNASKED = types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities())
#: An analysis crashes on files that say so, and a rule prints.
CRASHING = """
from devfix.rules import registry
from dataclasses import replace

def detect(facts):
    print("a rule prints")
    if facts.path.endswith("crash.py"):
        raise ZeroDivisionError("on purpose")
    return DETECT(facts)

rules = registry.all_rules()
DETECT = rules[0].detect
changed = (replace(rules[0], detect=detect), *rules[1:])
registry.all_rules = lambda: changed
"""


# --- the end --------------------------------------------------------------------------------------------------------
def test_a_client_that_says_goodbye(write, editor):
    write({"train.py": BROKEN})
    ed = editor().start()
    ed.open("train.py")
    ed.wait_for("train.py", "DEV102")

    assert ed.stop() == 0


def test_exit_without_shutdown(editor):
    ed = editor().start()

    ed.client.exit(None)

    assert ed.ended() == 1


def test_a_client_that_goes_away(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "devfix", "lsp"], cwd=tmp_path, input=b"", capture_output=True, check=False, timeout=60
    )

    assert (done.returncode, done.stdout) == (1, b"")


def test_being_told_to_end(editor):
    ed = editor().start()

    ed.process.send_signal(signal.SIGTERM)

    assert ed.ended() == 1


def test_without_pygls_it_says_what_to_install(tmp_path):
    program = "import sys; sys.modules['pygls'] = None; from devfix.cli import main; main(['lsp'])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, input="", capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr == "devfix: devfix lsp requires pygls: pip install 'devfix[lsp]'\n"


# --- what goes wrong ------------------------------------------------------------------------------------------------
@pytest.mark.thorough
def test_a_crash_is_logged_and_the_server_goes_on(write, editor):
    write({"crash.py": BROKEN, "train.py": BROKEN})
    ed = editor(CRASHING + "from devfix.cli import main; main(['lsp'])").start()

    ed.open("crash.py")
    ed.until(lambda: any("crash.py: internal error (ZeroDivisionError: on purpose)" in each for each in ed.log))
    ed.open("train.py")

    ed.wait_for("train.py", "DEV102")
    assert ed.stop() == 0


def test_a_handler_that_crashes_answers_with_an_error(desk):
    with pytest.raises(Exception, match="takes the URI"):
        desk.command("devfix.openProof").result(20)


def test_garbage_ends_nothing(write, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "devfix", "lsp"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    start = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    for body in (b"{not json", start):
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    process.stdin.close()
    answered = process.stdout.read()
    process.stdout.close()

    assert b'"serverInfo": {"name": "devfix"' in answered.replace(b'":', b'": ').replace(b'":  ', b'": ')
    assert process.wait(20) == 1


# --- settings -------------------------------------------------------------------------------------------------------
def test_the_settings_of_the_editor(write, desk):
    write({"train.py": BROKEN})
    desk.open("train.py")
    desk.wait_for("train.py", "DEV102")

    desk.settings = {"ignore": ["DEV102"]}
    desk.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    desk.wait_for("train.py")

    desk.settings = {"ignore": []}
    desk.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    desk.wait_for("train.py", "DEV102")


def test_settings_of_an_editor_that_sends_them(write, editor):
    write({"train.py": BROKEN})
    ed = editor().start(UNASKED, options={"ignore": ["tensor-without-device"]})
    ed.open("train.py")
    ed.wait_for("train.py")

    ed.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"devfix": {"ignore": []}}))
    ed.wait_for("train.py", "DEV102")
    ed.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"devfix": {"enable": False}}))
    ed.wait_for("train.py")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"selekt": []}, "unknown key devfix.selekt"),
        ({"select": "DEV1"}, "devfix.select must be a list of strings, not 'DEV1'"),
        ({"select": ["DEV999"]}, "--select: unknown rule 'DEV999'"),
        ({"severity": "loud"}, "devfix.severity must be one of error, latent, advice, not 'loud'"),
    ],
)
def test_wrong_settings_are_told_once_and_the_last_right_ones_stay(write, desk, wrong, told):
    write({"train.py": BROKEN})
    desk.open("train.py")
    desk.wait_for("train.py", "DEV102")

    desk.settings = wrong
    for _ in range(2):
        desk.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))

    desk.until(lambda: any(told in message for message in desk.messages))
    assert desk.codes("train.py") == ["DEV102"]
    desk.settings = {"select": []}
    desk.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    assert desk.hover("train.py", 3, 6)
    assert len(desk.messages) == 1


def test_pyproject_counts_and_is_read_again(write, desk):
    folder = write({"train.py": BROKEN, "pyproject.toml": "[tool.devfix]\nignore = ['DEV102']\n"})
    desk.open("train.py")
    desk.wait_for("train.py")

    (folder / "pyproject.toml").write_text("[tool.devfix]\nignore = []\n")
    desk.files_changed("pyproject.toml")
    desk.wait_for("train.py", "DEV102")

    (folder / "pyproject.toml").write_text("[tool.devfix]\nignored = []\n")
    desk.files_changed("pyproject.toml")
    desk.until(lambda: any("unknown key tool.devfix.ignored" in message for message in desk.messages))
    assert desk.codes("train.py") == ["DEV102"]


def test_what_is_excluded_is_left_alone(write, desk):
    write({"old/train.py": BROKEN, "train.py": BROKEN, "pyproject.toml": "[tool.devfix]\nexclude = ['old/']\n"})

    desk.open("old/train.py")
    desk.open("train.py")

    desk.wait_for("train.py", "DEV102")
    assert desk.codes("old/train.py") is None


def test_an_installed_package_is_left_alone(write, desk):
    write({".venv/lib/site-packages/some/train.py": BROKEN, "train.py": BROKEN})

    desk.open(".venv/lib/site-packages/some/train.py")
    desk.open("train.py")

    desk.wait_for("train.py", "DEV102")
    assert desk.codes(".venv/lib/site-packages/some/train.py") is None


# --- folders and files ----------------------------------------------------------------------------------------------
def test_each_folder_has_its_own_settings(write, editor):
    ignoring = "[tool.devfix]\nignore = ['DEV102']\n"
    folder = write({"one/train.py": BROKEN, "one/pyproject.toml": ignoring, "two/train.py": BROKEN})
    ed = editor()
    two = from_fs_path(str(folder / "two"))
    ed.settings = lambda scope: {"ignore": []} if scope == two else None
    ed.start(folders=[folder / "one", folder / "two"])

    ed.open("one/train.py")
    ed.open("two/train.py")

    ed.wait_for("two/train.py", "DEV102")
    ed.wait_for("one/train.py")


def test_a_file_outside_every_folder(write, editor):
    folder = write({"project/other.py": "", "train.py": BROKEN})
    ed = editor().start(folders=[folder / "project"])

    ed.open("train.py")

    ed.wait_for("train.py", "DEV102")


def test_a_module_that_appears_is_imported(write, desk):
    folder = write(
        {"train.py": BROKEN.replace("torch.ones(3, 4)", "made()").replace("\n", "\nfrom parts import made\n", 1)}
    )
    desk.open("train.py")
    desk.wait_for("train.py")

    (folder / "parts.py").write_text("import torch\n\n\ndef made():\n    return torch.ones(3, 4)\n")
    desk.files_changed("parts.py", kind=types.FileChangeType.Created)
    desk.open("parts.py")
    desk.wait_for("parts.py", "DEV102")

    desk.close("parts.py")
    (folder / "parts.py").write_text("import torch\n\n\ndef made():\n    return torch.ones(3, 4).cuda()\n")
    desk.files_changed("parts.py")
    desk.open("parts.py")
    desk.wait_for("parts.py")


def test_a_notebook_of_the_folder_is_no_program_of_the_editor(write, desk):
    """Its edits would be in lines of its program, which no editor knows."""
    parts = """\
import torch
from torch import nn


def train(options):
    model = nn.Linear(4, 2).to(options[0])
    return model(torch.ones(3, 4))
"""
    start = "import torch\nfrom parts import train\n\ntrain([torch.device('cuda')])\n"
    folder = write({"train.ipynb": notebook(start).decode(), "parts.py": parts, "train.py": BROKEN})
    desk.open("parts.py")
    desk.open("train.py")
    desk.wait_for("train.py", "DEV102")
    assert desk.latest("parts.py") == []

    (folder / "start.py").write_text(start)
    desk.files_changed("start.py", kind=types.FileChangeType.Created)
    desk.wait_for("parts.py", "DEV102")


def test_a_file_that_is_renamed(write, desk):
    folder = write({"old.py": BROKEN})
    text = desk.open("old.py")
    desk.wait_for("old.py", "DEV102")

    shutil.move(folder / "old.py", folder / "new.py")
    desk.close("old.py")
    desk.open("new.py", text)
    renamed = types.FileRename(desk.uri("old.py"), desk.uri("new.py"))
    desk.client.workspace_did_rename_files(types.RenameFilesParams([renamed]))

    desk.wait_for("new.py", "DEV102")
    assert desk.latest("old.py") == []


def test_a_folder_that_leaves_the_workspace_takes_its_project_along(write, desk):
    folder = write({"train.py": BROKEN, "helpers.py": "import torch\n"})
    desk.open("train.py")
    desk.wait_for("train.py", "DEV102")

    desk._folders([], [folder])
    desk.change("train.py", BROKEN.replace("4)\n", "4).cuda()\n"))
    desk.wait_for("train.py")
    desk._folders([folder], [])


def test_the_server_asks_to_be_told_of_files(running):
    assert running.registered == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]


def test_what_the_server_can_do(running):
    able = running.capabilities

    assert able.text_document_sync.change is types.TextDocumentSyncKind.Incremental
    assert able.text_document_sync.open_close is True
    assert set(able.code_action_provider.code_action_kinds) == {
        "quickfix",
        "source.fixAll.devfix",
        "source.proof.devfix",
    }
    assert able.execute_command_provider.commands == ("devfix.openProof",)
    assert able.hover_provider
