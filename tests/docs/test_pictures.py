"""The pictures of the README show what the commands print."""

import re

import pictures
import pytest


@pytest.mark.parametrize("path", pictures.FILES, ids=lambda path: path.name)
def test_a_picture_is_that_of_a_run(path):
    shown = path.read_text(encoding="utf-8")

    assert pictures.FILES[path]() == shown, "write it again with: python docs/pictures.py"
    assert not re.search(r"url\((?!#)|@import|<image|href", shown), "a picture requests nothing"
