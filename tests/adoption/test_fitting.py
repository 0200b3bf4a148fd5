"""What fits a repository."""

import pytest

from devfix.adoption import fitting


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        pytest.param([], ["configuration"], id="nothing"),
        pytest.param(["pyproject.toml", "setup.py"], ["configuration"], id="a-project"),
        pytest.param(["setup.py"], [], id="an-old-build"),
        pytest.param(["setup.cfg", ".pre-commit-config.yaml"], ["hook"], id="an-old-build-with-hooks"),
        pytest.param([".pre-commit-config.yaml"], ["configuration", "hook"], id="hooks"),
    ],
)
def test_what_fits(tmp_path, files, parts):
    for name in files:
        (tmp_path / name).write_bytes(b"")

    assert fitting(str(tmp_path)) == parts
