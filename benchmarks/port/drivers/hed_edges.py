import os
import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Picture:
    """An image that is read or written by PIL."""

    def save(self, path):
        pass


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def read(path):
    draw = np.random.RandomState(int(os.path.basename(path)[:-4]))
    return draw.randint(0, 256, (32, 40) if path.endswith("png") else (32, 40, 3), np.uint8)


def layers(path):
    """Two of the pretrained layers of VGG-16."""
    draw = np.random.RandomState(0)
    weights = {"conv1_1-weight": (64, 3, 3, 3), "conv1_1-bias": (64,), "conv1_2-weight": (64, 64, 3, 3), "conv1_2-bias": (64,)}
    return {"__header__": b"", **{name: 0.1 * draw.randn(*shape).astype(np.float32) for name, shape in weights.items()}}


module("cv2", imread=read)
module("PIL", Image=module("PIL.Image", open=read, fromarray=lambda data: Picture()))
module("scipy", io=module("scipy.io", loadmat=layers))
module("skimage", io=module("skimage.io"))
np.random.seed(0)
torch.manual_seed(0)
torch.utils.data.DataLoader = Loader
os.makedirs("data/HED-BSDS", exist_ok=True)
with open("data/HED-BSDS/train_pair.lst", "w", encoding="utf-8") as file:
    file.writelines(f"train/{number}.jpg train/{number}.png\n" for number in range(6))
with open("data/HED-BSDS/test.lst", "w", encoding="utf-8") as file:
    file.writelines(f"test/{number}.jpg\n" for number in range(10, 12))
sys.argv = ["train_hed.py", "--maxepoch", "1", "--itersize", "2", "--print_freq", "1"]
runpy.run_path("train_hed.py", run_name="__main__")
