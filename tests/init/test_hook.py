"""The hook in ``.pre-commit-config.yaml``."""

import pytest
import yaml

from devfix import __version__
from devfix.init import Addition, Present, Refused, hook
from devfix.init._templates import template


def test_where_there_is_no_file_one_is_made(tmp_path):
    part = hook(str(tmp_path))

    assert isinstance(part, Addition) and part.old is None
    made = yaml.safe_load(part.new)["repos"][0]["hooks"][0]
    shown = yaml.safe_load(template("pre-commit-hooks.yaml"))[0]
    assert made.pop("additional_dependencies") == [f"devfix[notebook]=={__version__}"]
    assert made == {key: value for key, value in shown.items() if key in made}
    assert shown.keys() - made.keys() == {"additional_dependencies", "description", "minimum_pre_commit_version"}


def test_the_hook_is_added_to_the_others_and_is_there_after_that(tmp_path):
    old = b"repos:\n  - repo: x  # pinned\n    hooks:\n      - id: a\n"
    (tmp_path / ".pre-commit-config.yaml").write_bytes(old)

    part = hook(str(tmp_path))

    assert isinstance(part, Addition) and part.new.startswith(old)
    part.write()
    assert isinstance(hook(str(tmp_path)), Present)


@pytest.mark.parametrize("name", ["devfix", "devfix-fix"])
def test_either_hook_counts(tmp_path, name):
    (tmp_path / ".pre-commit-config.yaml").write_text(f"repos:\n- repo: y\n  hooks:\n  - id: {name}\n")

    part = hook(str(tmp_path))

    assert isinstance(part, Present) and part.content == f"the hook {name}"


@pytest.mark.parametrize(("old", "reason"), [("repos: []\n", "in brackets"), ("repos: [\n", "is not valid YAML: ")])
def test_what_cannot_be_added_to_is_told(tmp_path, old, reason):
    (tmp_path / ".pre-commit-config.yaml").write_text(old)

    part = hook(str(tmp_path))

    assert isinstance(part, Refused) and reason in part.reason
