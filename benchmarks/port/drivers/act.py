import os
import runpy
import sys
import types

import torch
import torchvision
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class ResNet(nn.Module):
    def __init__(self, norm_layer):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(3, 8, 7, 4, 3, bias=False), norm_layer(8), nn.ReLU())
        self.layer4 = nn.Sequential(nn.Conv2d(8, 512, 3, 4, 1, bias=False), norm_layer(512), nn.ReLU())


class Layers(nn.ModuleDict):
    """torchvision's IntermediateLayerGetter."""

    def __init__(self, model, return_layers):
        super().__init__(model.named_children())
        self.return_layers = return_layers

    def forward(self, x):
        found = {}
        for name, layer in self.items():
            x = layer(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found


class Episodes(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(1, 3, 48, 64), torch.randn(14), torch.randn(20, 14), torch.arange(20) >= 12 + index


def load_data(folder, episodes, cameras, train_size, val_size):
    loaders = [torch.utils.data.DataLoader(Episodes(), batch_size=size, shuffle=True, pin_memory=True) for size in (train_size, val_size)]
    return *loaders, {}, True


def normalize(mean, std):
    def apply(image):
        return (image - torch.tensor(mean, device=image.device).view(-1, 1, 1)) / torch.tensor(std, device=image.device).view(-1, 1, 1)

    return apply


torchvision.__version__ = "0.20"
torchvision.models = types.SimpleNamespace(resnet18=lambda replace_stride_with_dilation, pretrained, norm_layer: ResNet(norm_layer))
sys.modules["torchvision.transforms"].Normalize = normalize
module("torchvision.models", _utils=None)
module("torchvision.models._utils", IntermediateLayerGetter=Layers)
sys.path.append("detr")
import utils

utils.load_data = load_data
script = "imitate_episodes.py"
sys.argv = [
    script, "--task_name", "sim_transfer_cube_scripted", "--ckpt_dir", "checkpoints", "--policy_class", "ACT", "--kl_weight", "10", "--chunk_size", "10",
    "--hidden_dim", "32", "--batch_size", "2", "--dim_feedforward", "64", "--num_epochs", "2", "--lr", "1e-5", "--seed", "0",
]
os.makedirs("checkpoints", exist_ok=True)
runpy.run_path(script, run_name="__main__")
