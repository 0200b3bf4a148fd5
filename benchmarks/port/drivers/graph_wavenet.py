import os
import pickle
import sys

import numpy as np
import torch

draw = np.random.RandomState(0)
os.makedirs(os.path.join("data", "METR-LA"), exist_ok=True)
os.makedirs("garage", exist_ok=True)
for part in ("train", "val", "test"):
    x, y = (draw.rand(4, 12, 5, 2).astype("float32") + 0.1 for _ in range(2))
    np.savez(os.path.join("data", "METR-LA", part + ".npz"), x=x, y=y)
with open("adj_mx.pkl", "wb") as file:
    names = [str(each) for each in range(5)]
    pickle.dump((names, {name: index for index, name in enumerate(names)}, draw.rand(5, 5).astype("float32")), file)
sys.argv = [
    "train.py", "--device", "cuda:0", "--adjdata", "adj_mx.pkl", "--adjtype", "identity", "--gcn_bool", "--addaptadj",
    "--num_nodes", "5", "--nhid", "4", "--batch_size", "2", "--epochs", "2", "--print_every", "1",
]
torch.nn.Conv1d = torch.nn.Conv2d  # as in PyTorch 1.2, where it accepted a kernel of two dimensions
import train

torch.manual_seed(0)
np.random.seed(0)
train.main()
