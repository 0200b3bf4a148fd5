import functools
import os
import random
import runpy
import sys

import numpy as np
import torch


def dropout(values, **options):
    return drop(values, **options).view_as(values)  # never the parameter itself, as in PyTorch 0.4


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
drop, torch.nn.functional.dropout = torch.nn.functional.dropout, dropout
torch.load = functools.partial(torch.load, weights_only=False)  # as in PyTorch 2.5
os.makedirs("words", exist_ok=True)
for part, count in (("train", 12), ("valid", 8), ("test", 2)):
    with open(os.path.join("words", part + ".txt"), "w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(" ".join(f"w{word}" for word in np.random.randint(0, 30, 11)) + " \n")
sizes = ["--emsize", "16", "--nhid", "24", "--nlayers", "2", "--batch_size", "4", "--bptt", "15"]
sys.argv = ["main.py", "--data", "words", "--save", "words.pt", "--epochs", "2", "--lr", "5", "--log-interval", "1", *sizes]
runpy.run_path("main.py", run_name="__main__")
