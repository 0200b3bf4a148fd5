import inspect
import logging
import os
import sys
import types

import numpy as np


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Regression:
    def __init__(self, C, random_state):
        self.strength = C


def prepare(params, samples):
    words = sorted({word for sample in samples for word in sample})
    params.vectors = dict(zip(words, np.random.RandomState(0).randn(len(words), 8), strict=True))


def batcher(params, batch):
    return np.vstack([np.mean([params.vectors[word] for word in sentence], axis=0) for sentence in batch])


inspect.getargspec = inspect.getfullargspec  # as in Python 3.10
module("sklearn", __version__="0.24.0")
module("sklearn.linear_model", LogisticRegression=Regression)
module("sklearn.model_selection", StratifiedKFold=None)
module("sklearn.metrics", f1_score=None, mean_squared_error=None)
import senteval

logging.basicConfig(level=logging.DEBUG)
folder = os.path.join("data", "downstream", "SST", "binary")
os.makedirs(folder, exist_ok=True)
draw = np.random.RandomState(0)
for part, count in (("train", 8), ("dev", 4), ("test", 4)):
    with open(os.path.join(folder, "sentiment-" + part), "w", encoding="utf-8") as file:
        for number in range(count):
            file.write(" ".join(f"w{word}" for word in draw.randint(0, 20, draw.randint(3, 7))) + f"\t{number % 2}\n")
classifier = {"nhid": 4, "optim": "adam", "batch_size": 8, "tenacity": 1, "epoch_size": 1, "max_epoch": 0, "dropout": 0.1}
params = {"task_path": "data", "usepytorch": True, "kfold": 2, "classifier": classifier}
print(senteval.engine.SE(params, batcher, prepare).eval("SST2"))
