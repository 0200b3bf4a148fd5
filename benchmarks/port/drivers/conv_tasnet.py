import os
import random
import runpy
import sys
import types

import numpy as np
import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


def read(path):
    draw = np.random.RandomState(int(os.path.basename(path)[:-4]))
    time = np.arange(1600) / 8000
    speakers = [np.sin(2 * np.pi * draw.uniform(100, 900) * time + draw.rand()) for _ in range(2)]
    sound = sum(speakers) / 2 if "mix" in path else speakers["spk2" in path]
    return 8000, (16000 * sound).astype(np.int16)


class Plateau(torch.optim.lr_scheduler.ReduceLROnPlateau):
    def __init__(self, optimizer, verbose, **options):
        super().__init__(optimizer, **options)  # verbose, as in PyTorch 2.6


np.float = float  # as in NumPy 1.23
wavfile = module("scipy.io.wavfile", read=read)
module("scipy", io=module("scipy.io", wavfile=wavfile))
torch.optim.lr_scheduler.ReduceLROnPlateau = Plateau
random.seed(0)
torch.manual_seed(0)
import conf

conf.chunk_size = 800
conf.nnet_conf.update(N=16, X=2, R=2, B=16, H=24)
conf.trainer_conf.update(logging_period=1)
for data, files in ((conf.train_data, range(6)), (conf.dev_data, range(6, 8))):
    for part, path in (("mix", data["mix_scp"]), ("spk1", data["ref_scp"][0]), ("spk2", data["ref_scp"][1])):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"utterance{number} {part}/{number}.wav\n" for number in files)
sys.argv = ["train.py", "--gpus", "0", "--epochs", "2", "--checkpoint", "small", "--batch-size", "4", "--num-workers", "0"]
runpy.run_path("train.py", run_name="__main__")
