from collections import OrderedDict

import torch
from torch import nn


class OSNetTiny(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU())
        self.classifier = nn.Linear(8, num_classes)

    def forward(self, x):
        return self.classifier(self.conv1(x).mean((-2, -1)))


__model_factory = {'osnet_tiny': OSNetTiny}


def build_model(name, num_classes):
    if name not in __model_factory:
        raise KeyError("Unknown model: {}. Must be one of {}".format(name, list(__model_factory)))
    return __model_factory[name](num_classes=num_classes)


def load_pretrained_weights(model, weight_path):
    """Loads pretrained weights to model; layers that do not match in name or size are left as they are."""
    checkpoint = torch.load(weight_path)
    state_dict = checkpoint["state_dict"] if "state_dict" in checkpoint else checkpoint

    model_dict = model.state_dict()
    new_state_dict = OrderedDict()
    matched_layers, discarded_layers = [], []
    for k, v in state_dict.items():
        if k.startswith("module."):
            k = k[7:]
        if k in model_dict and model_dict[k].size() == v.size():
            new_state_dict[k] = v
            matched_layers.append(k)
        else:
            discarded_layers.append(k)
    model_dict.update(new_state_dict)
    model.load_state_dict(model_dict)
    print(f"loaded {len(matched_layers)} layers, discarded {discarded_layers}")
