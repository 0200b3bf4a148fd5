"""Configurations, whose settings are known where the program sets them."""

# https://github.com/facebookresearch/fvcore/blob/main/fvcore/common/config.py
class CfgNode(Overlay): ...
