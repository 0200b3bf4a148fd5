"""The workflow of a host."""

import pytest
import yaml

from devfix.init import WORKFLOWS, Addition, Present, Refused, workflow


@pytest.mark.parametrize("host", WORKFLOWS)
def test_files_are_made_that_are_yaml(tmp_path, host):
    parts = workflow(str(tmp_path), host)

    assert [part.path for part in parts] == [str(tmp_path / name) for name in WORKFLOWS[host]]
    for part in parts:
        assert isinstance(part, Addition) and part.old is None
        assert b"devfix bot" in part.new
        assert yaml.safe_load(part.new)
        part.write()
    assert all(isinstance(part, Present) for part in workflow(str(tmp_path), host))


def test_workflows_run_without_an_account_of_ours(tmp_path):
    for part in workflow(str(tmp_path), "github"):
        assert b"OWNER" not in part.new


def test_jobs_of_others_stay_alone(tmp_path):
    (tmp_path / ".gitlab-ci.yml").write_bytes(b"test:\n  script: pytest\n")

    (part,) = workflow(str(tmp_path), "gitlab")

    assert isinstance(part, Refused)
    assert "devfix bot review" in part.snippet
