"""What fits a repository."""

import pytest

from devfix.init import Wanted, fitting


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        pytest.param([], Wanted(configuration=True), id="nothing"),
        pytest.param(["pyproject.toml", "setup.py"], Wanted(configuration=True), id="a-project"),
        pytest.param(["setup.py"], Wanted(), id="an-old-build"),
        pytest.param(["setup.cfg", ".pre-commit-config.yaml"], Wanted(hook=True), id="an-old-build-with-hooks"),
        pytest.param([".github/workflows/ci.yml"], Wanted(configuration=True, host="github"), id="workflows"),
        pytest.param([".gitlab-ci.yml"], Wanted(configuration=True), id="gitlab"),
    ],
)
def test_what_fits(tmp_path, files, wanted):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")

    assert fitting(str(tmp_path)) == wanted
