import builtins
import pickle
import runpy
import sys
import types
from pathlib import Path

import numpy as np
import torch
import tqdm


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, value)


tqdm.tqdm.pandas = staticmethod(lambda: None)
tqdm.tqdm.set_description = staticmethod(print)
module("torch.utils.tensorboard", SummaryWriter=Writer)
draw = np.random.RandomState(0)
parts = {"train": {}, "val": {}, "test": {}, "umap": {str(user): user for user in range(6)}, "smap": {str(item): item for item in range(150)}}
for user in range(6):
    items = [int(item) + 1 for item in draw.permutation(150)[: draw.randint(8, 14)]]
    parts["train"][user], parts["val"][user], parts["test"][user] = items[:-2], items[-2:-1], items[-1:]
folder = Path("Data", "preprocessed", "ml-1m_min_rating0-min_uc5-min_sc0-splitleave_one_out")
folder.mkdir(parents=True, exist_ok=True)
(folder / "dataset.pkl").write_bytes(pickle.dumps(parts))
Path("experiments").mkdir(exist_ok=True)
torch.manual_seed(0)
builtins.input = lambda prompt: "1"
sys.argv = ["main.py", "--template", "train_bert"]
runpy.run_path("main.py", run_name="__main__")
