"""The wheel and the sdist: complete, reproducible, and described by valid metadata."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from devfix import __version__
from devfix.init._templates import PACKAGED
from devfix.report.rules import HOMEPAGE

ROOT = Path(__file__).parents[2]
PACKAGES = ("devfix", "codemods")

pytest.importorskip("hatchling", reason="hatchling is not installed: pip install 'devfix[test]'")


def build(source: Path, target: Path, *kinds: str) -> None:
    """Build distributions of a source tree, dated by ``SOURCE_DATE_EPOCH``."""
    subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", "-m", "hatchling", "build", "-d", target]
        + [argument for kind in kinds for argument in ("-t", kind)],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        capture_output=True,
        check=True,
    )


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The distributions of the repository."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "sdist", "wheel")
    return folder


@pytest.fixture(scope="module")
def unpacked(built, tmp_path_factory):
    """The unpacked sdist."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        if sys.version_info >= (3, 12):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)  # our own archive
    return folder / f"devfix-{__version__}"


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    return message_from_bytes(wheel.read(f"devfix-{__version__}.dist-info/METADATA"))


def tracked() -> set[str]:
    """Return the files of the repository that git tracks and that exist."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split("\0")[:-1]
    if done.returncode != 0 or "pyproject.toml" not in names:
        pytest.skip("not a checkout of the repository")
    return {name for name in names if (ROOT / name).is_file()}


def test_the_sdist_has_each_tracked_file(unpacked):
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}

    assert tracked() - found == set()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["constraints.txt", "noxfile.py", "action.yml", ".ci/run", "Dockerfile", "LICENSE"])
def test_the_sdist_has_what_builds_and_tests_it(unpacked, name):
    assert (unpacked / name).is_file()


def test_the_wheel_has_the_packages_and_the_templates_and_nothing_else(unpacked, wheel):
    files = {
        path.relative_to(unpacked).as_posix()
        for package in PACKAGES
        for path in (unpacked / package).rglob("*")
        if path.is_file()
    }
    templates = {f"devfix/init/templates/{name}" for name in PACKAGED}
    pages = {f"devfix/report/errors/{path.name}" for path in (unpacked / "docs" / "errors").iterdir()}

    installed = {name for name in wheel.namelist() if not name.startswith(f"devfix-{__version__}.dist-info/")}

    assert installed == files | templates | pages


def test_the_wheel_has_types_and_the_license(wheel):
    assert {"devfix/py.typed", f"devfix-{__version__}.dist-info/licenses/LICENSE"} <= set(wheel.namelist())


def test_two_builds_from_different_folders_are_identical(built, unpacked, tmp_path):
    (unpacked / "PKG-INFO").unlink(missing_ok=True)  # only an sdist has it
    for path in unpacked.rglob("*"):
        os.utime(path, (1, 1))

    build(unpacked, tmp_path, "sdist", "wheel")

    assert digests(tmp_path) == digests(built)


def test_metadata_says_who_and_where(metadata):
    assert metadata["Author"] == "devfix developers"
    assert metadata["License-Expression"] == "MIT"
    assert f"Homepage, {HOMEPAGE}" in metadata.get_all("Project-URL")
    assert metadata["Requires-Python"] == ">=3.10"


def test_classifiers_are_known_sorted_and_agree_with_the_supported_versions(metadata):
    from trove_classifiers import classifiers

    given = metadata.get_all("Classifier")

    assert set(given) <= classifiers
    assert given == sorted(given)
    minors = [name.rpartition("3.")[2] for name in given if name.startswith("Programming Language :: Python :: 3.")]
    assert minors == ["10", "11", "12", "13"]
