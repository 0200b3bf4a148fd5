"""Environment variables that choose the device."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("variable", "meets"),
    [
        pytest.param("os.environ.get('DEVICE', 'cuda')", True, id="get"),
        pytest.param("os.getenv('DEVICE', default='cuda:0')", True, id="getenv"),
        pytest.param("os.getenv('DEVICE', 'cpu')", False, id="processor"),
        pytest.param("os.getenv('DEVICE')", False, id="no-default"),
        pytest.param("os.environ.get('NAME', 'resnet')", False, id="no-device"),
    ],
)
def test_a_variable_names_the_accelerator_where_that_is_its_default(met, variable, meets):
    program = f"""
        import os

        print(torch.ones(3).to({variable}) + torch.ones(3))
        """

    assert bool(met(program)) is meets


@pytest.mark.parametrize(
    ("setting", "meets"),
    [('config.get("device", "cuda")', True), ('config.get("device", "cpu")', False), ('config.get("device")', False)],
)
def test_a_setting_is_the_accelerator_where_that_is_its_default(met, setting, meets):
    program = f"""
        import yaml

        config = yaml.safe_load(open("config.yaml"))
        print(torch.ones(3).to({setting}) + torch.ones(3))
        """

    assert bool(met(program)) is meets
