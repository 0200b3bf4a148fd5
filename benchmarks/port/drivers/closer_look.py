import json
import os
import runpy
import sys
import types

import torch


class Picture:
    """An image as PIL's, with the little that the program uses."""

    def __init__(self, data):
        self.data = data

    def convert(self, mode):
        return self


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for each in self.transforms:
            image = each(image)
        return image


class Loader(torch.utils.data.DataLoader):
    def __init__(self, data, num_workers=0, **options):
        super().__init__(data, **options)


def open_image(path):
    number = int(os.path.basename(path)[:-4])
    return Picture(torch.rand(3, 84, 84, generator=torch.Generator().manual_seed(number)))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def same(*args):
    return lambda image: image


enhance = dict.fromkeys(("Brightness", "Contrast", "Sharpness", "Color"))
module("PIL", Image=types.SimpleNamespace(open=open_image), ImageEnhance=types.SimpleNamespace(**enhance))
module(
    "torchvision.transforms", Compose=Compose, Scale=same, CenterCrop=same, ToTensor=lambda: lambda image: image.data,
    Normalize=lambda mean, std: lambda data: (data - torch.tensor(mean).view(3, 1, 1)) / torch.tensor(std).view(3, 1, 1),
)
module("torchvision", transforms=sys.modules["torchvision.transforms"])
import configs
from data import datamgr

get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self if type(index) is int and not self.dim() else get(self, index)  # as in PyTorch 0.4
torch.utils.data.DataLoader = Loader
configs.save_dir = "."
sampler = datamgr.EpisodicBatchSampler
datamgr.EpisodicBatchSampler = lambda classes, ways, episodes: sampler(classes, ways, 2)
folder = os.path.join("filelists", "CUB")
os.makedirs(folder, exist_ok=True)
for part, first in (("base", 0), ("val", 5)):
    labels = [first + number // 8 for number in range(40)]
    with open(os.path.join(folder, part + ".json"), "w", encoding="utf-8") as file:
        json.dump({"image_names": [f"{part}/{number}.jpg" for number in range(40)], "image_labels": labels}, file)
torch.manual_seed(0)
for method in ("baseline", "protonet", "relationnet"):
    sys.argv = ["train.py", "--method", method, "--stop_epoch", "1"]
    runpy.run_path("train.py", run_name="__main__")
