"""Folders that mark vendored code."""

from __future__ import annotations

import pytest

from devfix.fixes.vendored_code import foreign_part


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/p/third_party/apex/amp.py", "third_party"),
        ("env/lib/site-packages/torch/x.py", "site-packages"),
        ("submodules/vendor/x.py", "submodules"),
    ],
)
def test_the_first_such_folder_is_returned(path, folder):
    assert foreign_part(path) == folder


@pytest.mark.parametrize("path", ["/p/train.py", "/p/vendors/x.py", "third_party.py", "my_vendor/x.py", ""])
def test_other_paths_are_the_program_itself(path):
    assert foreign_part(path) is None
