import types

import numpy as np
import torch

np.Inf = np.inf  # as in NumPy 1
import main
import solver


def series(path, batch_size, win_size, mode, dataset):
    windows = torch.rand(8 if mode == "train" else 4, win_size, 6, generator=torch.Generator().manual_seed(len(mode)))
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(windows, torch.zeros(len(windows), win_size)), batch_size)


torch.manual_seed(0)
solver.get_loader_segment = series
main.main(types.SimpleNamespace(
    lr=1e-4, num_epochs=2, k=3, win_size=12, input_c=6, output_c=6, batch_size=4, pretrained_model=None, dataset="SMD",
    mode="train", data_path="data", model_save_path="checkpoints", anormly_ratio=4.0,
))
