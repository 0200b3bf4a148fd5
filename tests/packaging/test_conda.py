"""The conda recipe says what pyproject.toml says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from devfix import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
RECIPE = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
#: conda-forge's names of packages that are named differently on PyPI.
CONDA_NAMES = {"torch": "pytorch"}
#: Packages that come with a constrained one, which chooses their version.
BROUGHT = {"hishel", "httpx", "lsprotocol", "markupsafe", "requests"}


def split(requirement: str) -> tuple[str, str]:
    """Return name and versions of a requirement; environment markers are left out, because the recipe is noarch."""
    match = re.fullmatch(r"([\w.-]+)\s*([^;]*?)\s*(?:;.*)?", requirement)
    assert match is not None, requirement
    return CONDA_NAMES.get(match[1], match[1]), match[2]


def recipe(section: str) -> dict[str, str]:
    """Return the versions by package of one list of requirements."""
    return dict(split(each) for each in RECIPE["requirements"][section] if not each.startswith(("python ", "__")))


def test_the_version_is_the_package_s():
    assert RECIPE["context"]["version"] == __version__


def test_the_oldest_python_is_the_package_s():
    assert PROJECT["requires-python"] == f">={RECIPE['context']['python_min']}"


def test_the_core_s_requirements_are_the_recipe_s():
    assert recipe("run") == dict(split(each) for each in PROJECT["dependencies"])


def test_the_build_requires_what_pyproject_requires():
    assert recipe("host") == {"pip": "", **dict(split(each) for each in PYPROJECT["build-system"]["requires"])}


@pytest.mark.parametrize("extra", ["verify", "report", "dask", "migrate", "bot", "notebook", "lsp", "mcp", "watch"])
def test_versions_of_optional_packages_agree(extra):
    required = PROJECT["optional-dependencies"][extra]
    given = dict(split(each) for each in required if not each.startswith("devfix["))

    for name in BROUGHT:
        given.pop(name, None)

    assert given.items() <= recipe("run_constraints").items()


def test_every_constraint_is_of_an_extra():
    extras = PROJECT["optional-dependencies"].values()
    known = {split(each)[0] for required in extras for each in required if not each.startswith("devfix[")}

    assert set(recipe("run_constraints")) <= known


def test_entry_point_summary_and_home_are_the_package_s():
    assert RECIPE["build"]["python"]["entry_points"] == [
        f"{name} = {target}" for name, target in PROJECT["scripts"].items()
    ]
    about = RECIPE["about"]
    assert PROJECT["description"].startswith(about["summary"])
    assert about["homepage"] == PROJECT["urls"]["Homepage"]
    assert about["license"] == PROJECT["license"]
    assert (ROOT / about["license_file"]).is_file()
