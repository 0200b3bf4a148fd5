import os
import runpy
import sys

import task_generator
import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter


def loader(task, num_per_class, split, shuffle, rotation):
    labels = torch.arange(3).repeat_interleave(num_per_class)
    images = torch.rand(len(labels), 1, 28, 28)
    return DataLoader(TensorDataset(images, labels), batch_size=len(labels), shuffle=shuffle)


def main():
    torch.manual_seed(0)
    torch.nn.utils.clip_grad_norm = torch.nn.utils.clip_grad_norm_  # removed from PyTorch
    _BaseDataLoaderIter.next = _BaseDataLoaderIter.__next__  # as in Python 2
    task_generator.omniglot_character_folders = lambda: ([], [])
    task_generator.OmniglotTask = lambda *options: None
    task_generator.get_data_loader = loader
    os.makedirs("models", exist_ok=True)
    sys.argv = ["omniglot_train_one_shot.py", "-w", "3", "-b", "2", "-e", "3"]
    runpy.run_path("omniglot_train_one_shot.py", run_name="__main__")


main()
