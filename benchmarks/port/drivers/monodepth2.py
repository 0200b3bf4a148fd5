import os
import runpy
import sys
import types

import numpy as np
import torch
import torchvision
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        residual = x if self.downsample is None else self.downsample(x)
        return torch.relu(self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))) + residual)


class ResNet(nn.Module):
    """The network of torchvision."""

    def __init__(self, block, layers):
        super().__init__()
        self.inplanes = 64
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2 = self._make_layer(block, 64, layers[0]), self._make_layer(block, 128, layers[1], stride=2)
        self.layer3, self.layer4 = self._make_layer(block, 256, layers[2], stride=2), self._make_layer(block, 512, layers[3], stride=2)

    def _make_layer(self, block, planes, blocks, stride=1):
        first = block(self.inplanes, planes, stride)
        self.inplanes = planes
        return nn.Sequential(first, *(block(planes, planes, 1) for _ in range(blocks - 1)))


def resnet18(pretrained):
    return ResNet(BasicBlock, [2, 2, 2, 2])


class Drives(torch.utils.data.Dataset):
    """A moving pattern, with the keys of the repository's data set."""

    def __init__(self, data_path, filenames, height, width, frame_idxs, num_scales, is_train, img_ext):
        self.filenames, self.height, self.width, self.frame_idxs, self.num_scales = filenames, height, width, frame_idxs, num_scales

    def __len__(self):
        return len(self.filenames)

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        scene = nn.functional.avg_pool2d(torch.rand(1, 3, self.height + 8, self.width + 16, generator=draw), 5, 1, 2)[0]
        inputs = {}
        for scale in range(self.num_scales):
            K = np.array([[0.58, 0, 0.5, 0], [0, 1.92, 0.5, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=np.float32)
            K[0] *= self.width // 2**scale
            K[1] *= self.height // 2**scale
            inputs["K", scale], inputs["inv_K", scale] = torch.from_numpy(K), torch.from_numpy(np.linalg.pinv(K))
            for frame in self.frame_idxs:
                image = scene[:, 4 : 4 + self.height, 8 + 2 * frame : 8 + 2 * frame + self.width]
                image = nn.functional.avg_pool2d(image[None], 2**scale)[0]
                inputs["color", frame, scale], inputs["color_aug", frame, scale] = image, image * 0.9
        return inputs


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(self.folder, step, name, float(value))

    def add_image(self, name, image, step):
        pass


resnet = types.SimpleNamespace(BasicBlock=BasicBlock, Bottleneck=None)
networks = dict.fromkeys(("resnet34", "resnet50", "resnet101", "resnet152"))
torchvision.models = module("torchvision.models", ResNet=ResNet, resnet=resnet, resnet18=resnet18, **networks)
module("tensorboardX", SummaryWriter=Writer)
steps = torch.utils.data.dataloader._SingleProcessDataLoaderIter
steps.next = steps.__next__  # as in PyTorch 1.12
import datasets

datasets.KITTIRAWDataset = Drives
torch.manual_seed(0)
os.makedirs("splits/eigen_zhou", exist_ok=True)
for part, images in (("train", 4), ("val", 2)):
    with open(f"splits/eigen_zhou/{part}_files.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(f"2011_09_26/drive {number} l" for number in range(images)))
options = ["--model_name", "mono_small", "--log_dir", "log", "--weights_init", "scratch", "--num_workers", "0"]
options += ["--height", "64", "--width", "96", "--batch_size", "2", "--num_epochs", "1", "--log_frequency", "1"]
sys.argv = ["train.py", *options]
runpy.run_path("train.py", run_name="__main__")
sys.argv = ["train.py", *options, "--pose_model_type", "posecnn", "--disable_automasking", "--predictive_mask"]
runpy.run_path("train.py", run_name="__main__")
