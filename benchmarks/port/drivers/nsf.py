import os
import runpy
import sys

import numpy as np
import torch


class Writer:
    def __init__(self, log_dir, max_queue):
        os.makedirs(log_dir, exist_ok=True)

    def add_scalar(self, tag, scalar_value, global_step):
        print(global_step, tag, float(scalar_value))


class Loader(torch.utils.data.DataLoader):
    def __init__(self, *args, shuffle, **options):
        super().__init__(*args, **options)


sys.path.insert(0, os.getcwd())
import tensorboardX
from experiments import cutils

tensorboardX.SummaryWriter = Writer
torch.utils.data.DataLoader = Loader  # the sampler's generator is on the CPU, which default CUDA tensors refuse since PyTorch 1.9
cutils.on_cluster = lambda: False
cutils.get_log_root = cutils.get_checkpoint_root = lambda: "root"
os.environ["DATAROOT"] = "root"
os.makedirs(os.path.join("root", "miniboone"), exist_ok=True)
for seed, part in enumerate(("train", "val", "test")):
    np.save(os.path.join("root", "miniboone", part + ".npy"), np.random.RandomState(seed).randn(16, 4))
sys.argv = [
    "uci.py", "--train_batch_size", "8", "--val_batch_size", "4", "--num_training_steps", "4", "--num_flow_steps", "2",
    "--hidden_features", "8", "--num_transform_blocks", "1", "--monitor_interval", "2",
]
runpy.run_path(os.path.join("experiments", "uci.py"), run_name="__main__")
