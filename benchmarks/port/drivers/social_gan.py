import os
import sys

import numpy as np
import torch

for part, seed in (("train", 0), ("val", 1)):
    folder = os.path.join("datasets", "crowd", part)
    os.makedirs(folder, exist_ok=True)
    draw = np.random.RandomState(seed)
    with open(os.path.join(folder, "scene.txt"), "w", encoding="utf-8") as file:
        for frame in range(22):
            for person in range(3):
                x, y = draw.rand(2) + frame * 0.1
                file.write(f"{frame * 10}\t{person}\t{x}\t{y}\n")
view = torch.Tensor.view
torch.Tensor.view = lambda self, *shape: view(self.contiguous(), *shape)  # as in PyTorch 1.2
from scripts import train  # noqa: E402

torch.manual_seed(0)
sys.argv = [
    "train.py", "--dataset_name", "crowd", "--loader_num_workers", "0", "--delim", "tab", "--num_iterations", "3", "--num_epochs", "0",
    "--batch_size", "2", "--obs_len", "8", "--pred_len", "8", "--skip", "1", "--encoder_h_dim_g", "8", "--encoder_h_dim_d", "8",
    "--decoder_h_dim_g", "8", "--mlp_dim", "8", "--bottleneck_dim", "8", "--noise_dim", "4", "--pool_every_timestep", "0",
    "--print_every", "1", "--checkpoint_every", "2", "--g_steps", "1", "--d_steps", "1", "--output_dir", ".", "--best_k", "2",
]  # fmt: skip
train.main(train.parser.parse_args())
