"""The house: arrows that point one way, names that stay private, folders that a reader can take in."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("devfix", "codemods")
MOST_MODULES = 25
MODULES = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def contract(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contract of pyproject.toml on the packages in a folder."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", str(ROOT / "pyproject.toml")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The packages in another folder, to be changed there."""
    folder = tmp_path_factory.mktemp("house")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        pytest.param("devfix/syntax/tree.py", "devfix.engine.fixpoint", id="up-one-way"),
        pytest.param("devfix/analysis/domain/values.py", "devfix.analysis.interpreter", id="up-inside-the-analysis"),
        pytest.param("devfix/engine/scan.py", "codemods.tensors.batch_not_moved", id="rules-by-import"),
    ],
)
def test_an_arrow_that_is_turned_round_breaks_the_contract(copy, importer, imported):
    file = copy / importer
    before = file.read_text(encoding="utf-8")
    file.write_text(f"{before}\nimport {imported}\n", encoding="utf-8")

    done = contract(copy)
    file.write_text(before, encoding="utf-8")

    assert done.returncode == 1, done.stdout + done.stderr
    assert imported in done.stdout


def test_the_contract_holds(copy):
    done = contract(copy)

    assert done.returncode == 0, done.stdout + done.stderr


def test_no_module_imports_a_private_name_of_another_package():
    found = []
    for file in MODULES:
        package = module_name(file.parent / "__init__.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
                continue
            if node.module.split(".")[0] not in PACKAGES or node.module == "__future__":
                continue
            path = [*node.module.split("."), *(alias.name for alias in node.names)]
            private = [name for name in path if name.startswith("_") and not name.startswith("__")]
            owner = ".".join(node.module.split("._")[0].split(".")) if "._" in node.module else node.module
            same = owner == package or owner.startswith(f"{package}.") or package.startswith(f"{owner}.")
            if private and not same:
                found.append(f"{file.relative_to(ROOT)}:{node.lineno}: {', '.join(private)} of {node.module}")

    assert found == []


def test_no_folder_has_more_modules_than_a_reader_takes_in():
    folders = {file.parent for file in MODULES}
    counted = {
        str(folder.relative_to(ROOT)): sum(not each.name.startswith("__") for each in folder.glob("*.py"))
        for folder in folders
    }

    assert {folder: count for folder, count in counted.items() if count > MOST_MODULES} == {}


def test_every_package_says_what_it_is_and_what_it_may_import():
    silent = [
        str(file.relative_to(ROOT))
        for file in MODULES
        if file.name == "__init__.py" and len(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "") < 40
    ]

    assert silent == []
