import os
import sys
import types

import numpy as np
import torch


class Rotation:
    def __init__(self, matrix):
        self.matrix = matrix

    @classmethod
    def from_euler(cls, order, angles):
        z, y, x = angles
        turn_x = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
        turn_y = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
        turn_z = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
        return cls(turn_x @ turn_y @ turn_z)

    @classmethod
    def from_dcm(cls, matrix):
        return cls(matrix)

    def apply(self, points):
        return points @ self.matrix.T

    def as_euler(self, order, degrees):
        return np.degrees(np.arctan2(self.matrix[[1, 2, 2], [0, 0, 1]], self.matrix[[0, 0, 2], [0, 1, 2]]))


def clouds(partition):
    draw = np.random.RandomState(partition == "train")
    return draw.rand(4, 32, 3).astype("float32"), np.arange(4)[:, None]


for name in ("scipy", "scipy.spatial", "scipy.spatial.transform"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["scipy.spatial.transform"].Rotation = Rotation
import data
import main

data.load_data = clouds
os.makedirs("checkpoints", exist_ok=True)
torch.manual_seed(0)
sys.argv = [
    "main.py", "--emb_nn", "dgcnn", "--emb_dims", "16", "--n_heads", "2", "--ff_dims", "16", "--batch_size", "2",
    "--test_batch_size", "2", "--epochs", "1", "--num_points", "32", "--cycle", "yes",
]
main.main()
