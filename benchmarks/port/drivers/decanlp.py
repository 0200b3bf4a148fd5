import datetime
import json
import os
import runpy
import shutil
import sys
import types
import urllib.request

import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Writer:
    def __init__(self, log_dir):
        self.folder = log_dir

    def add_scalars(self, name, values, step):
        print(step, name, values)


def zone(name, offset):
    return datetime.timezone(datetime.timedelta(seconds=offset))


module("six", PY2=False, string_types=(str,), text_type=str)
module("six.moves", urllib=urllib)
sys.modules["six.moves.urllib"], sys.modules["six.moves.urllib.request"] = urllib, urllib.request
sys.modules["ujson"] = json
module("dateutil", tz=types.SimpleNamespace(tzoffset=zone))
module("pyrouge", Rouge155=object)
module("revtok", tokenize=str.split, detokenize=" ".join)
module("tensorboardX", SummaryWriter=Writer)
from text.torchtext import vocab


class Vectors(vocab.Vectors):
    def __init__(self, cache):
        self.dim = 6

    def __getitem__(self, token):
        return torch.randn(1, self.dim)


vocab.CharNGram = vocab.GloVe = Vectors
torch.manual_seed(0)
shutil.rmtree(".data/zoo", ignore_errors=True)
os.makedirs(".data/zoo")
for part, count in (("train", 12), ("val", 3)):
    with open(f".data/zoo/{part}.jsonl", "w", encoding="utf-8") as file:
        for number in range(count):
            animal, color = ("cat", "dog", "bird", "fish")[number % 4], ("red", "blue", "green")[number % 3]
            context = " ".join(["once"] * (number % 5)) + f" there was a {animal} and it was {color}"
            print(json.dumps({"context": context, "question": f"what color was the {animal}", "answer": color}), file=file)
sizes = ["--dimension", "12", "--transformer_hidden", "8", "--max_output_length", "5", "--train_batch_tokens", "60"]
steps = ["--train_iterations", "4", "--val_every", "3", "--log_every", "1", "--warmup", "2", "--num_print", "2"]
sys.argv = ["train.py", "--root", ".", "--train_tasks", "zoo", *sizes, *steps, "--no_commit", "--exist_ok"]
runpy.run_path("train.py", run_name="__main__")
