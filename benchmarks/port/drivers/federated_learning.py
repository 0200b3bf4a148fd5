import runpy
import sys

import numpy as np
import torch

np.random.seed(0)
torch.manual_seed(0)
sys.argv = [
    "main_fed.py", "--model", "cnn", "--num_channels", "1", "--iid", "--num_users", "4", "--frac", "0.5", "--epochs", "2",
    "--local_ep", "1", "--local_bs", "2", "--bs", "8",
]  # fmt: skip
runpy.run_path("main_fed.py", run_name="__main__")
