"""Configurations, whose settings are known where the program sets them."""

# https://github.com/rbgirshick/yacs
class CfgNode(Overlay): ...
