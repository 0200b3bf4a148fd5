import os
import re
import runpy
import sys

import numpy as np
import torch


class Photos(torch.utils.data.Dataset):
    def __init__(self, root, shape, shuffle, transform, **options):
        with open(root, encoding="utf-8") as file:
            self.names = file.read().split()
        self.shape, self.transform = shape, transform

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        draw = np.random.RandomState(index)
        label = np.zeros((50, 21))
        label[0, 1:19] = draw.uniform(0.2, 0.8, 18)
        label[0, 19:] = 0.4, 0.5
        return torch.from_numpy(draw.rand(3, *self.shape).astype(np.float32)), torch.from_numpy(label.reshape(-1))


def item(self, index):
    value = self if type(index) is int and not self.dim() else get(self, index)
    return value.item() if type(index) is int and torch.is_tensor(value) and not value.dim() else value  # a number, as in PyTorch 0.3


get, total, seed = torch.Tensor.__getitem__, np.sum, torch.manual_seed
torch.Tensor.__getitem__ = item
np.sum = lambda values, **options: sum(values) if torch.is_tensor(values[0]) else total(values, **options)
torch.manual_seed = lambda number: seed(0)  # the script takes the time
import dataset

dataset.listDataset = Photos
with open("cfg/yolo-pose.cfg", encoding="utf-8") as file:
    config = re.sub(r"filters=(\d{2,})", lambda found: f"filters={max(20, int(found[1]) // 16)}", file.read())
for name, value in (("batch", 2), ("height", 64), ("width", 64), ("max_epochs", 2)):
    config = re.sub(rf"(?m)^{name}=\d+", f"{name}={value}", config)
with open("cfg/small.cfg", "w", encoding="utf-8") as file:
    file.write(config)
with open("cfg/small.data", "w", encoding="utf-8") as file:
    file.write("train = LINEMOD/ape/train.txt\nvalid = LINEMOD/ape/test.txt\nbackup = backup/ape\nmesh = LINEMOD/ape/ape.ply\n")
    file.write("diam = 0.103\nwidth = 640\nheight = 480\nfx = 572.4114\nfy = 573.5704\nu0 = 325.2611\nv0 = 242.0489\nnum_workers = 0\n")
os.makedirs("VOCdevkit/VOC2012/JPEGImages", exist_ok=True)
os.makedirs("LINEMOD/ape", exist_ok=True)
for part in ("train", "test"):
    with open(f"LINEMOD/ape/{part}.txt", "w", encoding="utf-8") as file:
        file.writelines(f"LINEMOD/ape/JPEGImages/{number:06d}.jpg\n" for number in range(4))
with open("LINEMOD/ape/ape.ply", "w", encoding="utf-8") as file:
    file.write("ply\nelement vertex 3\nelement face 1\nend_header\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 1 0 0 1\n3 0 1 2\n")
np.zeros(4, np.int32).tofile("cfg/empty.conv")
sys.argv = ["train.py", "--datacfg", "cfg/small.data", "--modelcfg", "cfg/small.cfg", "--initweightfile", "cfg/empty.conv"]
runpy.run_path("train.py", run_name="__main__")
