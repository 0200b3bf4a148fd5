import torch.nn as nn


def convert_model(module, groups=3):
    """Traverse the module and its children, and turn every BatchNorm2d into a GroupNorm."""
    if isinstance(module, nn.BatchNorm2d):
        return nn.GroupNorm(groups, module.num_features, eps=module.eps)
    mod = module
    for name, child in module.named_children():
        mod.add_module(name, convert_model(child, groups))
    return mod
