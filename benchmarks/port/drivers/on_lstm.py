import functools
import os
import random
import runpy
import sys

import torch

torch.load = functools.partial(torch.load, weights_only=False)  # as in PyTorch 2.5
random.seed(0)
os.makedirs(os.path.join("data", "penn"), exist_ok=True)
for part, lines in (("train", 20), ("valid", 10), ("test", 3)):
    with open(os.path.join("data", "penn", part + ".txt"), "w", encoding="utf-8") as file:
        for _ in range(lines):
            file.write(" ".join(f"w{random.randrange(20)}" for _ in range(9)) + "\n")
sys.argv = [
    "main.py", "--emsize", "8", "--nhid", "8", "--chunk_size", "4", "--nlayers", "2", "--epochs", "1", "--batch_size", "2",
    "--bptt", "40", "--wdrop", "0", "--log-interval", "1", "--save", "model.pt",
]
runpy.run_path("main.py", run_name="__main__")
