import json
import sys

import dataset
import numpy as np
import torch
import train


class Crowd(dataset.listDataset):
    def __init__(self, root, **options):
        super().__init__(root, **{**options, "transform": None})


def load_data(path, train):
    draw = np.random.RandomState(int(path[:-4]))
    return torch.from_numpy(draw.randn(3, 32, 48)).float(), draw.rand(4, 6)


torch.manual_seed(0)
dataset.listDataset, dataset.load_data = Crowd, load_data
csrnet = train.CSRNet
train.CSRNet = lambda: csrnet(load_weights=True)  # not VGG-16's weights
for part in ("train", "test"):
    with open(part + ".json", "w", encoding="utf-8") as file:
        json.dump(["0.jpg", "1.jpg"], file)
sys.argv = ["train.py", "train.json", "test.json", "0", "0"]
train.main()
