import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch


class Photo:
    """An image or the numbers of the classes of its pixels, as PIL gives them."""

    def __init__(self, content):
        self.content = content
        self.size = content.shape[1], content.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.content, dtype)

    def convert(self, mode):
        return Photo(np.repeat(self.content[:, :, None], 3, axis=2) + np.arange(3))

    def transpose(self, method):
        return Photo(self.content[:, ::-1])

    def resize(self, size, method):
        return self

    def filter(self, kernel):
        return self

    def load(self):
        return Pixels(self.content)


class Pixels:
    def __init__(self, content):
        self.content = content

    def __setitem__(self, place, colour):
        self.content[place[::-1]] = colour


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, float(value))

    def add_image(self, name, image, step):
        pass

    def close(self):
        pass


class Bar:
    write = staticmethod(print)

    def __init__(self, items, total=None, desc=""):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def close(self):
        pass


def open_photo(path):
    draw = np.random.RandomState(sum(path.encode()))
    blocks = draw.choice([7, 8, 11, 21, 23, 24, 26, 4], (2, 4))
    return Photo(blocks.repeat(16, axis=0).repeat(16, axis=1))


def new_photo(mode, size):
    return Photo(np.zeros((size[1], size[0], 3), np.uint8))


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


image = module("PIL.Image", open=open_photo, new=new_photo, BICUBIC=3, NEAREST=0, FLIP_LEFT_RIGHT=0)
filters = module("PIL.ImageFilter", GaussianBlur=lambda radius: radius)
module("PIL", Image=image, ImageOps=module("PIL.ImageOps"), ImageFilter=filters, ImageFile=module("PIL.ImageFile"))
version = module("distutils.version", LooseVersion=lambda text: [int(part) for part in text.split(".")[:2]])
module("distutils", version=version)  # as in Python 3.11
module("scipy", io=module("scipy.io"))
module("tqdm", tqdm=Bar)
module("tensorboardX", SummaryWriter=Writer)
summed = np.sum
np.sum = lambda values, *settings, **options: sum(values) if isinstance(values, types.GeneratorType) else summed(values, *settings, **options)
import graphs.models.deeplab_multi as deeplab

make = deeplab.ResNetMulti.__init__
deeplab.ResNetMulti.__init__ = lambda self, block, layers, num_classes: make(self, block, [1, 1, 2, 1], num_classes)
shutil.rmtree("log", ignore_errors=True)
os.makedirs("log")
for folder, names in (("GTA5/list", ["00001", "00002", "00003"]), ("city_list", ["a_000_01", "a_000_02", "a_000_03"])):
    os.makedirs(f"datasets/{folder}", exist_ok=True)
    for part in ("train", "val"):
        with open(f"datasets/{folder}/{part}.txt", "w", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in names[: 3 if part == "train" else 2])
sys.argv = ["solve_gta5.py", "--gpu", "0", "--backbone", "deeplabv2_multi", "--imagenet_pretrained", "False", "--source_dataset", "gta5"]
sys.argv += ["--num_classes", "19", "--target_mode", "maxsquare", "--checkpoint_dir", "./log/maxsquare", "--lr", "2.5e-4", "--dataset", "cityscapes"]
sys.argv += ["--lambda_target", "0.1", "--multi", "True", "--base_size", "64,32", "--crop_size", "64,32", "--target_base_size", "64,32"]
sys.argv += ["--target_crop_size", "64,32", "--data_loader_workers", "0", "--threshold", "0.08"]
runpy.run_path("tools/solve_gta5.py", run_name="__main__")
