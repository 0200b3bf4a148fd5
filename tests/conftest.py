"""What holds for every test: nothing is kept between runs in the folders of whoever runs the tests."""

from __future__ import annotations

import pytest
from repair_fixtures import before_and_after, files_before_and_after, repair, unchanged

from devfix import sources

__all__ = ["before_and_after", "files_before_and_after", "repair", "unchanged"]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEVFIX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # each process would compile devfix again
        yield


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write texts, and give them as read files, under the names that a user would give."""
    monkeypatch.chdir(tmp_path)

    def call(**texts: str):
        for name, text in texts.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return [sources.read(f"{name.replace('__', '/')}.py") for name in texts]

    return call
