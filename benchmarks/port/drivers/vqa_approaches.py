import json
import os
import pickle
import runpy
import sys
import types

import numpy as np
import torch


class Features(dict):
    """A file of HDF5."""

    def __init__(self, path, mode):
        draw = np.random.RandomState(0)
        super().__init__(ids=np.arange(4), features=np.abs(draw.randn(4, 16, 5)).astype(np.float32))
        self["features"][:, :, 4] = 0
        self["boxes"] = draw.rand(4, 4, 5).astype(np.float32)
        self["widths"] = self["heights"] = np.full(4, 64)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Bar:
    def __init__(self, items, desc, ncols):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def set_postfix(self, **values):
        print(values)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


module("h5py", File=Features)
module("tqdm", tqdm=Bar)
import config

config.output_features, config.max_answers, config.batch_size, config.data_workers, config.epochs = 16, 6, 3, 0, 2
draw = np.random.RandomState(0)
words = ["what", "is", "this", "red", "cat", "dog", "where", "there"]
os.makedirs("data", exist_ok=True)
os.makedirs("logs", exist_ok=True)
for part, number in (("train2014", 6), ("val2014", 4)):
    questions = [" ".join(draw.choice(words, draw.randint(3, 6))) + "?" for _ in range(number)]
    questions = [{"question_id": index, "image_id": index % 4, "question": question} for index, question in enumerate(questions)]
    answers = [{"answers": [{"answer": f"answer{answer}"} for answer in draw.randint(0, 6, 10)]} for _ in range(number)]
    with open(f"data/v2_OpenEnded_mscoco_{part}_questions.json", "w", encoding="utf-8") as file:
        json.dump({"questions": questions}, file)
    with open(f"data/v2_mscoco_{part}_annotations.json", "w", encoding="utf-8") as file:
        json.dump({"annotations": answers}, file)
with open("vocab.json", "w", encoding="utf-8") as file:
    json.dump({"answer": {f"answer{index}": index for index in range(6)}}, file)
with open("data/dictionary.pkl", "wb") as file:
    pickle.dump(({word: index for index, word in enumerate(words)}, words), file)
np.save("data/glove6b_init_300d.npy", draw.randn(len(words), 300).astype(np.float32))
sys.argv = ["train.py", "tiny"]
runpy.run_path("train.py", run_name="__main__")
