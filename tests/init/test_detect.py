"""What fits a repository."""

import pytest

from devfix.init import Selection, detect_steps


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        pytest.param([], Selection(configuration=True), id="nothing"),
        pytest.param(["pyproject.toml", "setup.py"], Selection(configuration=True), id="a-project"),
        pytest.param(["setup.py"], Selection(), id="an-old-build"),
        pytest.param(["setup.cfg", ".pre-commit-config.yaml"], Selection(hook=True), id="an-old-build-with-hooks"),
        pytest.param([".github/workflows/ci.yml"], Selection(configuration=True, forge="github"), id="workflows"),
        pytest.param([".gitlab-ci.yml"], Selection(configuration=True), id="gitlab"),
    ],
)
def test_what_fits(tmp_path, files, wanted):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")

    assert detect_steps(str(tmp_path)) == wanted
