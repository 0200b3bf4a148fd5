import os
import pickle
import runpy
import sys
import types

import numpy as np
import PIL
import torch
import torchvision
from torch import nn


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Photo:
    """A photo of a cluster of its own colours."""

    def __init__(self, file):
        self.number = int(os.path.basename(getattr(file, "name", file)))
        self.size = (48, 40)

    def convert(self, mode):
        return self

    def thumbnail(self, size, kind):
        pass

    def crop(self, box):
        return self

    def tensor(self):
        colours = torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(self.number // 2))
        noise = torch.randn(3, 40, 48, generator=torch.Generator().manual_seed(100 + self.number))
        return colours.repeat_interleave(8, 1).repeat_interleave(8, 2) + 0.5 * noise


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(inputs, outputs, 3, 2, 1, bias=False), nn.BatchNorm2d(outputs)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1, self.layer2, self.layer3 = Block(3, 8), Block(8, 16), Block(16, 512)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(512, 1000)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def config(name, folder):
    """Four images, two of which are asked for."""
    gnd = [{"bbx": (0, 0, 40, 40), "easy": [query], "hard": [query + 1], "junk": [3]} for query in range(2)]
    return {"n": 4, "nq": 2, "gnd": gnd, "im_fname": lambda cfg, i: f"photos/{i}", "qim_fname": lambda cfg, i: f"photos/{i}"}


np.in1d = np.isin  # as in NumPy 1
PIL.Image = types.SimpleNamespace(open=Photo, ANTIALIAS=1)
torchvision.models = module("torchvision.models", resnet18=lambda pretrained: ResNet(), resnet101=None)
torchvision.get_image_backend = lambda: "PIL"
torchvision.transforms.Compose = lambda steps: Photo.tensor
torch.utils.data.DataLoader = Loader
import cirtorch.datasets.testdataset
import cirtorch.utils.download
from cirtorch.datasets.datahelpers import cid2filename

cirtorch.datasets.testdataset.configdataset = config
cirtorch.utils.download.download_train = cirtorch.utils.download.download_test = print
base = "data/train/retrieval-SfM-120k"
os.makedirs("photos", exist_ok=True)
parts = {}
for part, first in (("train", 10), ("val", 30)):
    numbers = range(first, first + 12)
    cids = [f"{number:06d}" for number in numbers]
    parts[part] = {"cids": cids, "cluster": [number // 2 for number in numbers], "qidxs": [0, 2, 4, 6], "pidxs": [1, 3, 5, 7]}
    for path in (cid2filename(cid, os.path.join(base, "ims")) for cid in cids):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").close()
for number in range(4):
    open(f"photos/{number}", "w").close()
with open(f"{base}/retrieval-SfM-120k.pkl", "wb") as file:
    pickle.dump(parts, file)
options = ["--arch", "resnet18", "--whitening", "--not-pretrained", "--image-size", "48", "--neg-num", "3", "--query-size", "4", "--pool-size", "10"]
options += ["--workers", "0", "--epochs", "2", "--batch-size", "2", "--lr", "1e-3", "--print-freq", "1", "--test-datasets", "roxford5k"]
sys.argv = ["train.py", "exp", *options]
runpy.run_path("cirtorch/examples/train.py", run_name="__main__")
