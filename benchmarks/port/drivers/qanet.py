import json
import os
import runpy
import sys
import types

import numpy as np
import torch


class Flags:
    """The flags of absl."""

    def define(self, name, value, text):
        for option in sys.argv[1:]:
            given, text = option[2:].split("=")
            if given == name:
                value = type(value)(text)
        setattr(self, name, value)


class Writer:
    def __init__(self, log_dir):
        self.log_dir = log_dir

    def add_scalar(self, name, value, step):
        print(step, name, value)


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


sys.argv = ["main.py", "--mode=train", "--para_limit=40", "--ques_limit=10", "--char_limit=8", "--batch_size=4", "--num_epoch=2"]
values = Flags()
kinds = ("string", "integer", "boolean", "float", "list")
flags = module("absl.flags", FLAGS=values, **{f"DEFINE_{kind}": values.define for kind in kinds})
module("absl", flags=flags, app=types.SimpleNamespace(run=lambda main: main(None)))
module("tensorboardX", SummaryWriter=Writer)
torch.utils.data.DataLoader = Loader
draw = np.random.RandomState(0)
os.makedirs("data", exist_ok=True)
for name, shape in (("word", (30, 300)), ("char", (20, 64))):
    with open(f"data/{name}_emb.pkl", "w", encoding="utf-8") as file:
        json.dump((draw.randn(*shape) / 10).tolist(), file)
for part, number in (("train", 8), ("dev", 4)):
    starts = draw.randint(0, 30, number)
    content = {f"{text}_idxs": draw.randint(1, 30, (number, size)) for text, size in (("context", 40), ("ques", 10))}
    content.update({f"{text}_char_idxs": draw.randint(1, 20, (number, size, 8)) for text, size in (("context", 40), ("ques", 10))})
    np.savez(f"data/{part}.npz", y1s=starts, y2s=starts + 2, ids=np.arange(number), **content)
text = " ".join(["word"] * 40)
spans = [(5 * index, 5 * index + 4) for index in range(40)]
questions = {str(index): {"context": text, "spans": spans, "uuid": str(index), "answers": ["word word"]} for index in range(8)}
with open("data/dev_eval.json", "w", encoding="utf-8") as file:
    json.dump(questions, file)
torch.manual_seed(0)
runpy.run_path("main.py", run_name="__main__")
