import os
import runpy
import sys
import types

import numpy as np
import torch
import tqdm
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Boxes(torch.utils.data.Dataset):
    def __init__(self, root_dir, set, transform):
        self.count = 4 if set == "train" else 2

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        draw = np.random.RandomState(index)
        boxes = np.zeros((index % 3, 5))  # the first image has none
        boxes[:, :2] = draw.randint(0, 60, (len(boxes), 2))
        boxes[:, 2:4] = boxes[:, :2] + draw.randint(30, 60, (len(boxes), 2))
        boxes[:, 4] = draw.randint(0, 3, len(boxes))
        image = draw.randn(128, 128, 3).astype(np.float32)
        return {"img": torch.from_numpy(image), "annot": torch.from_numpy(boxes), "scale": 1.0}


class Plateau(torch.optim.lr_scheduler.ReduceLROnPlateau):
    def __init__(self, optimizer, patience, verbose):
        super().__init__(optimizer, patience=patience)  # "verbose" was removed from PyTorch


module("tqdm.autonotebook", tqdm=tqdm.tqdm)
import efficientdet.dataset

torch.manual_seed(0)
np.random.seed(0)
efficientdet.dataset.CocoDataset = Boxes
torch.optim.lr_scheduler.ReduceLROnPlateau = Plateau
settings = {
    "project_name": "shapes", "train_set": "train", "val_set": "val", "num_gpus": 1, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
    "anchors_scales": "[2 ** 0, 2 ** (1.0 / 3.0), 2 ** (2.0 / 3.0)]", "anchors_ratios": "[(1.0, 1.0), (1.4, 0.7), (0.7, 1.4)]",
    "obj_list": ["rectangle", "circle", "triangle"],
}
os.makedirs("projects", exist_ok=True)
with open("projects/shapes.yml", "w", encoding="utf-8") as file:
    yaml.dump(settings, file)
sys.argv = ["train.py", "-p", "shapes", "-c", "0", "-n", "0", "--batch_size", "2", "--num_epochs", "2"]
runpy.run_path("train.py", run_name="__main__")
