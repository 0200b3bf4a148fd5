import ast
import os
import runpy
import shutil
import sys
import types

import numpy as np
import torch
import yaml


class Settings(dict):
    """The configuration of yacs."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def merge(self, values):
        for name, value in values.items():
            if isinstance(value, dict):
                self[name].merge(value)
            else:
                self[name] = self.decode(value)

    def merge_from_file(self, name):
        with open(name, encoding="utf-8") as file:
            self.merge(yaml.safe_load(file))

    def merge_from_list(self, options):
        for name, value in zip(options[::2], options[1::2]):
            *path, last = name.split(".")
            settings = self
            for part in path:
                settings = settings[part]
            settings[last] = self.decode(value)

    def decode(self, value):
        try:
            return ast.literal_eval(value) if isinstance(value, str) else value
        except (ValueError, SyntaxError):
            return value

    def freeze(self):
        pass


class Writer:
    def __init__(self, log_dir):
        self.log_dir = log_dir

    def add_scalar(self, name, value, global_step):
        print(global_step, name, float(value))


class Photo:
    """An image of PIL."""

    def __init__(self, path):
        self.draw = np.random.RandomState(int(os.path.basename(path)[:-4]))

    def convert(self, mode):
        return self.draw.randint(0, 256, (60, 80, 3)).astype(np.uint8)


def resize(image, size):
    rows, columns = (np.arange(size[axis]) * image.shape[axis] // size[axis] for axis in (0, 1))
    return image[rows][:, columns]


def non_maximum_suppression(boxes, scores, threshold):
    """The suppression of torchvision."""
    order = scores.argsort(descending=True, stable=True)[:200]
    areas = (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(1)
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        corners = torch.max(boxes[best, :2], boxes[order, :2]), torch.min(boxes[best, 2:], boxes[order, 2:])
        common = (corners[1] - corners[0]).clamp(min=0).prod(1)
        order = order[common / (areas[best] + areas[order] - common) <= threshold]
    return torch.stack(kept)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


module("yacs", config=module("yacs.config", CfgNode=Settings))
module("tqdm", tqdm=lambda loader: loader)
module("PIL", Image=module("PIL.Image", open=Photo))
module("six", moves=module("six.moves", zip=zip, range=range))
module("cv2", resize=resize, cvtColor=lambda image, change: image, COLOR_RGB2HSV=1, COLOR_HSV2RGB=2, COLOR_BGR2HSV=3, COLOR_HSV2BGR=4)
operations = module("torchvision.ops", nms=non_maximum_suppression)
module("torchvision", __version__="0.9.0", ops=operations, transforms=module("torchvision.transforms"))
module("torch.utils.tensorboard", SummaryWriter=Writer)
np.bool = np.bool_  # as in NumPy 1.23
import ssd.modeling.backbone.vgg as vgg

vgg.vgg_base["300"] = [8, 8, "M", 16, 16, "M", 16, 16, 16, "C", 32, 32, 512, "M", 32, 32, 512]
for year, part, numbers in ((2007, "trainval", range(3)), (2012, "trainval", range(3, 6)), (2007, "test", range(6, 8))):
    root = f"datasets/VOC{year}"
    for folder in ("Annotations", "ImageSets/Main", "JPEGImages"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
    with open(f"{root}/ImageSets/Main/{part}.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{number:06d}\n" for number in numbers)
    for number in numbers:
        draw = np.random.RandomState(number)
        text = "<annotation><size><width>80</width><height>60</height></size>"
        for name in draw.choice(["cat", "dog", "car"], 2):
            left, top = (int(value) for value in draw.randint(1, 25, 2))
            corners = f"<xmin>{left}</xmin><ymin>{top}</ymin><xmax>{left + 40}</xmax><ymax>{top + 30}</ymax>"
            text += f"<object><name>{name}</name><difficult>0</difficult><bndbox>{corners}</bndbox></object>"
        with open(f"{root}/Annotations/{number:06d}.xml", "w", encoding="utf-8") as file:
            file.write(text + "</annotation>")
shutil.rmtree("outputs", ignore_errors=True)
os.makedirs("outputs")
np.random.seed(0)
torch.manual_seed(0)
sys.argv = ["train.py", "--config-file", "configs/vgg_ssd300_voc0712.yaml", "--log_step", "1", "MODEL.BACKBONE.PRETRAINED", "False"]
sys.argv += ["SOLVER.MAX_ITER", "3", "SOLVER.BATCH_SIZE", "2", "DATA_LOADER.NUM_WORKERS", "0", "TEST.CONFIDENCE_THRESHOLD", "0.05"]
runpy.run_path("train.py", run_name="__main__")
