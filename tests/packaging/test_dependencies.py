"""What the code imports is declared: in the core, or in an extra that a missing package's message names."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGES = ("devfix", "codemods")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

#: Distributions that are named differently from the modules that they install.
DISTRIBUTIONS = {"github": "githubkit", "gitlab": "python-gitlab", "yaml": "pyyaml"}
#: The extra of each imported module that is not in the core.
EXTRAS = {
    "distributed": "dask",
    "fsspec": "dask",
    "githubkit": "bot",
    "gitlab": "bot",
    "httpx": "bot",
    "jinja2": "report",
    "jsonschema": "bot",
    "lsprotocol": "lsp",
    "markupsafe": "report",
    "mcp": "mcp",
    "nbformat": "notebook",
    "pebble": "migrate",
    "plotext": "verify",
    "pydantic": "mcp",
    "pygls": "lsp",
    "requests": "bot",
    "starlette": "mcp",
    "torch": "verify",
    "uvicorn": "mcp",
    "watchfiles": "watch",
}
#: Imported only if the script under test has them.
OF_THE_SCRIPT = {"IPython", "numpy"}
#: Declared for the sake of another package; the reason is beside each in pyproject.toml.
NOT_IMPORTED = {"hishel"}


def imported_modules() -> dict[str, Path]:
    """Return the top-level modules that the packages import, outside the standard library, each with a file."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                    names = [node.module]
                for name in names:
                    found.setdefault(name.partition(".")[0], path)
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names and name not in PACKAGES}


def declared(requirements: list[str]) -> set[str]:
    """Return the names of the required distributions; extras of devfix itself are expanded."""
    names = set()
    for requirement in requirements:
        own = re.fullmatch(r"devfix\[(.*)\]", requirement)
        if own:
            for extra in own[1].split(","):
                names |= declared(PROJECT["optional-dependencies"][extra])
        else:
            match = re.match(r"[\w.-]+", requirement)
            assert match is not None
            names.add(match[0].lower())
    return names


CORE = declared(PROJECT["dependencies"])
OPTIONAL = {extra: declared(names) for extra, names in PROJECT["optional-dependencies"].items()}
IMPORTED = imported_modules()


@pytest.mark.parametrize("module", sorted(set(IMPORTED) - OF_THE_SCRIPT - {"tomllib"}))  # tomli before 3.11
def test_an_imported_module_is_declared(module):
    distribution = DISTRIBUTIONS.get(module, module)
    where = OPTIONAL[EXTRAS[module]] if module in EXTRAS else CORE

    assert distribution in where, f"{IMPORTED[module]} imports {module}"


@pytest.mark.parametrize("extra", ["verify", "report", "dask", "migrate", "bot", "notebook", "lsp", "mcp", "watch"])
def test_what_an_extra_declares_is_imported(extra):
    modules = {DISTRIBUTIONS.get(module, module) for module in IMPORTED}

    assert OPTIONAL[extra] - modules <= NOT_IMPORTED


def test_what_the_core_declares_is_imported():
    modules = {DISTRIBUTIONS.get(module, module) for module in IMPORTED}

    assert CORE - modules == set()


def test_verify_has_what_its_formats_need():
    assert OPTIONAL["report"] <= OPTIONAL["verify"]


#: A command that needs a module, and the extra that the message must name.
COMMANDS = {
    "html report": ("jinja2", "report", ["check", "--output-format", "html", "train.py"]),
    "page of a proof": ("jinja2", "report", ["verify", "--html", "page.html", "train.py"]),
    "language server": ("pygls", "lsp", ["lsp"]),
    "server for agents": ("mcp", "mcp", ["mcp"]),
    "watching": ("watchfiles", "watch", ["check", "--watch"]),
    "migration": ("pebble", "migrate", ["migrate", "plan.toml"]),
    "cluster": ("distributed", "dask", ["migrate", "plan.toml", "--engine", "dask"]),
    "results elsewhere": ("fsspec", "dask", ["migrate", "plan.toml", "--results", "memory://x"]),
    "discovery": ("githubkit", "bot", ["migrate", "init", "--discover", "github:org/NAME"]),
    "notebook": ("nbformat", "notebook", ["check", "train.ipynb"]),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize(("module", "extra", "command"), COMMANDS.values(), ids=COMMANDS)
def test_a_missing_module_is_one_line_that_names_its_extra(tmp_path, module, extra, command):
    (tmp_path / "train.py").write_text("print(1)\n")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "import torch"}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "train.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "plan.toml").write_text('[[repository]]\npath = "."\n')
    start = f"import sys; sys.modules[{module!r}] = None; from devfix.cli import main; main({command!r})"

    result = subprocess.run([sys.executable, "-c", start], cwd=tmp_path, capture_output=True, check=False, text=True)

    told = [line for line in (result.stdout + result.stderr).splitlines() if "pip install" in line]
    assert result.returncode != 0
    assert len(told) == 1, result.stdout + result.stderr
    assert f"pip install 'devfix[{extra}]'" in told[0]
