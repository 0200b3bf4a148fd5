"""Configurations of yacs and OmegaConf: defaults are known until something else is merged."""

from __future__ import annotations

import pytest

YACS = """
from yacs.config import CfgNode as CN
_C = CN()
_C.MODEL = CN({"FLAG": False})
_C.MODEL.DEVICE = "cpu"
cfg = _C.clone()
"""


def test_a_default_is_what_a_run_has(place):
    assert place(YACS + "cfg.freeze()\n", "torch.ones(3, device=cfg.MODEL.DEVICE)") == "cpu"


@pytest.mark.parametrize("merge", ["merge_from_file('a.yml')", "merge_from_list(['MODEL.FLAG', True])"])
def test_what_is_merged_replaces_defaults(merge, met, place):
    program = f"{YACS}cfg.{merge}\n"

    assert place(program, "torch.ones(3, device=cfg.MODEL.DEVICE)") == "accelerator"
    assert met(program + "x = torch.ones(3)\nif cfg.MODEL.FLAG:\n    x.cuda() + x\n")


@pytest.mark.parametrize(
    "config",
    [
        "from omegaconf import OmegaConf\ncfg = OmegaConf.load('a.yaml')",
        "from omegaconf import OmegaConf\ncfg = OmegaConf.merge(OmegaConf.load('a.yaml'), OmegaConf.from_cli())",
        "from mmengine import Config\ncfg = Config.fromfile('a.py')",
        "from mmengine.config import Config\ncfg = Config.fromfile('a.py')",
        "from mmcv import Config\ncfg = Config.fromfile('a.py')",
        "from detectron2.config import get_cfg\ncfg = get_cfg()",
        "import toml\ncfg = toml.load('a.toml')",
    ],
)
def test_settings_of_a_file_are_open(config, met, place):
    assert place(config, "torch.ones(3, device=cfg.model.device)") == "accelerator"
    assert met(config + "\nx = torch.ones(3)\nif cfg.host:\n    x.cuda() + x\nelse:\n    x.cuda() + x\n")


def test_settings_in_a_checkpoint_are_no_tensors(place):
    program = """
    from omegaconf import OmegaConf
    config = OmegaConf.create(torch.load("a.pt", map_location="cpu")["config"])
    config.device = str(torch.device("cuda"))
    """

    assert place(program, "torch.ones(3, device=config.device)") == "accelerator"
