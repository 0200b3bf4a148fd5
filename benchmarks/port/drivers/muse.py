import functools
import inspect
import os
import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


inspect.getargspec = inspect.getfullargspec  # as in Python 3.10
np.fromstring = lambda text, sep: np.array([float(each) for each in text.split(sep)])  # as in NumPy 1
torch.load = functools.partial(torch.load, weights_only=False)  # as in PyTorch 2.5
module("scipy.linalg", svd=np.linalg.svd)
module("scipy.stats", spearmanr=None)
module("scipy", linalg=sys.modules["scipy.linalg"], stats=sys.modules["scipy.stats"])
draw = np.random.RandomState(0)
for language in ("en", "es"):
    with open(f"wiki.{language}.vec", "w", encoding="utf-8") as file:
        file.write("30 8\n")
        for number in range(30):
            file.write(f"{language}{number} " + " ".join(f"{each:.4f}" for each in draw.randn(8)) + "\n")
with open("en-es.txt", "w", encoding="utf-8") as file:
    file.write("".join(f"en{number} es{number}\n" for number in range(20)))
os.makedirs("dumped", exist_ok=True)
sys.argv = [
    "unsupervised.py", "--seed", "0", "--exp_path", "dumped", "--emb_dim", "8", "--dis_hid_dim", "8", "--dis_steps", "2",
    "--dis_most_frequent", "0", "--n_epochs", "1", "--epoch_size", "8", "--batch_size", "4", "--n_refinement", "1",
    "--dico_eval", "en-es.txt", "--src_emb", "wiki.en.vec", "--tgt_emb", "wiki.es.vec",
]
runpy.run_path("unsupervised.py", run_name="__main__")
