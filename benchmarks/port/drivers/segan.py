import os
import runpy
import shutil
import sys

import numpy as np
import torch


class Speech(torch.utils.data.Dataset):
    """Pairs of clean and noisy speech, of a given length."""

    def __init__(self, clean_dir, noisy_dir, preemph, slice_size, **options):
        self.size = slice_size

    def __len__(self):
        return 4

    def __getitem__(self, index):
        draw = np.random.RandomState(index)
        clean = np.sin(np.arange(self.size) * draw.uniform(0.01, 0.1)) / 2
        noisy = clean + draw.randn(self.size) / 20
        return f"{index}.wav", torch.FloatTensor(clean), torch.FloatTensor(noisy), torch.LongTensor([index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


import segan.datasets

segan.datasets.SEDataset = Speech
torch.utils.data.DataLoader = Loader
shutil.rmtree("ckpt_segan+", ignore_errors=True)
sys.argv = ["train.py", "--save_path", "ckpt_segan+", "--clean_trainset", "data/clean_trainset", "--noisy_trainset", "data/noisy_trainset"]
sys.argv += ["--cache_dir", "data_tmp", "--no_train_gen", "--batch_size", "2", "--no_bias", "--epoch", "2", "--save_freq", "1", "--z_dim", "64"]
sys.argv += ["--genc_fmaps", "4", "8", "16", "32", "64", "--denc_fmaps", "4", "8", "16", "32", "64", "--slice_size", "16384"]
runpy.run_path("train.py", run_name="__main__")
