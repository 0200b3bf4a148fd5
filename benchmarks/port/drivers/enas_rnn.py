import os
import random
import runpy
import sys

import numpy as np
import torch


def variable(data, requires_grad=False, volatile=False):
    return data


torch.autograd.Variable = variable  # without the option volatile, PyTorch no longer has it
random.seed(0)
np.random.seed(0)
os.makedirs("data/ptb", exist_ok=True)
words = [f"word{number}" for number in range(20)]
for part, lines in (("train", 40), ("valid", 24), ("test", 8)):
    with open(f"data/ptb/{part}.txt", "w", encoding="utf-8") as file:
        for _ in range(lines):
            start = random.randrange(20)
            file.write(" ".join(words[(start + 3 * step) % 20] for step in range(random.randint(4, 9))) + "\n")
sizes = ["--num_blocks", "4", "--controller_hid", "8", "--shared_embed", "16", "--shared_hid", "16", "--shared_rnn_max_length", "10", "--batch_size", "4"]
steps = ["--shared_max_step", "3", "--controller_max_step", "3", "--max_epoch", "2", "--derive_num_sample", "2", "--log_step", "1", "--save_epoch", "1"]
sys.argv = ["main.py", "--network_type", "rnn", "--dataset", "ptb", *sizes, *steps]
runpy.run_path("main.py", run_name="__main__")
