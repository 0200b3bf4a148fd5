"""What holds for every test: nothing is kept between runs in the folders of whoever runs the tests."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEVFIX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
