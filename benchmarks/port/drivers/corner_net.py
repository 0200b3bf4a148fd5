import json
import os
import queue
import runpy
import sys
import threading
import types

import numpy as np
import torch
import tqdm


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Pool(torch.nn.Module):
    """A compiled corner pooling, in plain PyTorch."""

    dim, flip = 2, False

    def forward(self, x):
        if self.flip:
            return x.flip(self.dim).cummax(self.dim)[0].flip(self.dim)
        return x.cummax(self.dim)[0]


def pool(axis, turn):
    return type("CornerPool", (Pool,), {"dim": axis, "flip": turn})


class Worker(threading.Thread):
    """A process of the data loading as a thread."""

    def terminate(self):
        pass


class Objects:
    data = "coco"

    def __init__(self, config, split):
        self.configs, self.db_inds = config, np.arange(4)


def sample_data(db, ind, data_aug):
    draw = np.random.RandomState(ind)
    heats = draw.rand(2, 2, 3, 16, 16).astype(np.float32)
    places = draw.randint(0, 256, (2, 2, 5))
    masks = np.zeros((2, 5), dtype=np.bool_)
    masks[0, :3] = masks[1, :2] = True
    for corner in range(2):
        for image in range(2):
            for place in places[corner, image][masks[image]]:
                heats[corner, image, place % 3, place // 16, place % 16] = 1
    shifts = torch.from_numpy(draw.rand(2, 2, 5, 2).astype(np.float32))
    images = torch.from_numpy(draw.randn(2, 3, 64, 64).astype(np.float32))
    heats, places = torch.from_numpy(heats), torch.from_numpy(places)
    ys = [heats[0], heats[1], torch.from_numpy(masks).to(torch.uint8), shifts[0], shifts[1]]
    return {"xs": [images, places[0], places[1]], "ys": ys}, ind + 1


module("models.py_utils._cpools", TopPool=pool(2, True), BottomPool=pool(2, False), LeftPool=pool(3, True), RightPool=pool(3, False))
module("sample.coco", sample_data=sample_data)
module("db.datasets", datasets={"MSCOCO": Objects})
from models import CornerNet
from models.py_utils import convolution, kp, residual


class model(kp):
    def __init__(self, db):
        pre = torch.nn.Sequential(convolution(7, 3, 16, stride=2), residual(3, 16, 32, stride=2))
        super().__init__(
            2, 2, [32, 32, 48], [1, 1, 1], 3, pre=pre, make_tl_layer=CornerNet.make_tl_layer, make_br_layer=CornerNet.make_br_layer,
            make_pool_layer=CornerNet.make_pool_layer, make_hg_layer=CornerNet.make_hg_layer, kp_layer=residual, cnv_dim=32,
        )


module("models.Small", model=model, loss=CornerNet.loss)
tqdm.tqdm.write = staticmethod(lambda text, file: file.write(text))
torch.multiprocessing.Process, torch.multiprocessing.Queue = Worker, queue.Queue
settings = {
    "system": {
        "dataset": "MSCOCO", "batch_size": 2, "sampling_function": "kp_detection", "train_split": "trainval", "val_split": "minival",
        "learning_rate": 0.00025, "decay_rate": 10, "val_iter": 2, "opt_algo": "adam", "prefetch_size": 5, "max_iter": 4, "stepsize": 450000,
        "snapshot": 4, "display": 1, "chunk_sizes": [2], "data_dir": "./data",
    },
    "db": {"input_size": [64, 64], "output_sizes": [[16, 16]], "categories": 3},
}
os.makedirs("config", exist_ok=True)
with open("config/Small.json", "w", encoding="utf-8") as file:
    json.dump(settings, file)
torch.manual_seed(0)
sys.argv = ["train.py", "Small", "--threads", "1"]
runpy.run_path("train.py", run_name="__main__")
