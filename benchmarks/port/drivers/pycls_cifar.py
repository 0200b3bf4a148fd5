import copy
import json
import os
import pickle
import runpy
import sys
import types

import numpy as np
import torch
import yaml


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Settings(dict):
    """The configuration of yacs."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def merge_from_other_cfg(self, values):
        for name, value in values.items():
            if isinstance(value, dict):
                self[name].merge_from_other_cfg(value)
            else:
                self[name] = value

    def merge_from_list(self, options):
        pass

    def clone(self):
        return copy.deepcopy(self)

    def load_cfg(self, file):
        return yaml.safe_load(file)

    def dump(self, stream=None):
        return json.dumps(self, indent=1) if stream is None else json.dump(self, stream, indent=1)

    def register_deprecated_key(self, name):
        pass

    def freeze(self):
        pass

    defrost = freeze


class Paths:
    """The path manager of iopath."""

    open, exists, ls, rm = map(staticmethod, (open, os.path.exists, os.listdir, os.remove))

    def mkdirs(self, name):
        os.makedirs(name, exist_ok=True)


module("yacs")
module("yacs.config", CfgNode=Settings)
module("iopath")
module("iopath.common")
module("iopath.common.file_io", PathManagerFactory=types.SimpleNamespace(get=Paths))
module("simplejson", dumps=lambda data, sort_keys, use_decimal: json.dumps(data, sort_keys=sort_keys, default=str))
module("submitit", helpers=types.SimpleNamespace(Checkpointable=object))
load = torch.load
torch.load = lambda file, **options: load(file, **{"weights_only": False, **options})  # as in PyTorch 2.5
draw = np.random.RandomState(0)
os.makedirs("pycls/datasets/data/cifar10", exist_ok=True)
for name in ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"):
    labels = [int(label) for label in draw.randint(0, 10, 4)]
    images = draw.randint(0, 100, (4, 3072)) + 15 * np.array(labels)[:, None]
    with open(f"pycls/datasets/data/cifar10/{name}", "wb") as file:
        pickle.dump({b"data": images.astype(np.uint8), b"labels": labels}, file)
settings = {
    "MODEL": {"TYPE": "resnet", "DEPTH": 8, "NUM_CLASSES": 10},
    "BN": {"USE_PRECISE_STATS": True, "NUM_SAMPLES_PRECISE": 16},
    "OPTIM": {"BASE_LR": 0.05, "LR_POLICY": "cos", "MAX_EPOCH": 2, "EMA_UPDATE_PERIOD": 1},
    "TRAIN": {"DATASET": "cifar10", "SPLIT": "train", "BATCH_SIZE": 8, "IM_SIZE": 32, "AUTO_RESUME": False},
    "TEST": {"DATASET": "cifar10", "SPLIT": "test", "BATCH_SIZE": 4, "IM_SIZE": 32},
    "DATA_LOADER": {"NUM_WORKERS": 0},
    "PREC_TIME": {"WARMUP_ITER": 0, "NUM_ITER": 1},
    "OUT_DIR": "out", "LOG_PERIOD": 1,
}
with open("small.yaml", "w", encoding="utf-8") as file:
    yaml.dump(settings, file)
sys.argv = ["tools/run_net.py", "--mode", "train", "--cfg", "small.yaml"]
runpy.run_path("tools/run_net.py", run_name="__main__")
