"""The manifest of the extension for Visual Studio Code says what the server and the extension do."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from devfix import __version__
from devfix.lsp.settings import Wishes
from devfix.model import Severity

FOLDER = Path(__file__).parents[2] / "editors" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
LOCK = (FOLDER / "package-lock.json").read_text(encoding="utf-8")
SETTINGS = {
    name.removeprefix("devfix."): each for name, each in MANIFEST["contributes"]["configuration"]["properties"].items()
}
OWN = {"path", "interpreter", "trace.server"}  # of the extension; src/launch.ts keeps them from the server


def test_the_version_is_the_package_s():
    assert MANIFEST["version"] == json.loads(LOCK)["version"] == __version__


def test_the_server_s_settings_are_those_of_the_manifest():
    def camel(name):
        return re.sub(r"_(\w)", lambda found: found[1].upper(), name)

    assert set(SETTINGS) - OWN == {camel(field.name) for field in fields(Wishes)}


def test_the_defaults_are_the_server_s():
    given = {name: each["default"] for name, each in SETTINGS.items() if name not in OWN}

    assert Wishes.of(given) == Wishes()


def test_the_severities_are_the_server_s():
    assert SETTINGS["severity"]["enum"] == [*(each.value for each in Severity), None]


@pytest.mark.parametrize("name", ["path", "interpreter", "config", "verifyOptions", "verifyArguments"])
def test_an_untrusted_workspace_cannot_choose_what_runs(name):
    assert f"devfix.{name}" in MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]


def test_each_command_is_registered_by_the_extension():
    source = (FOLDER / "src" / "extension.ts").read_text(encoding="utf-8")

    for command in MANIFEST["contributes"]["commands"]:
        assert f'registerCommand("{command["command"]}"' in source


def test_the_lock_file_names_no_registry_and_a_digest_for_each_package():
    packages = {name: each for name, each in json.loads(LOCK)["packages"].items() if name}

    assert packages
    assert "resolved" not in LOCK
    assert [name for name, each in packages.items() if "integrity" not in each and not each.get("link")] == []


def test_dependencies_are_exact_versions():
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in MANIFEST["devDependencies"].values())
    assert "dependencies" not in MANIFEST  # what the bundle needs is in it
