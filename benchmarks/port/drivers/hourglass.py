import os
from argparse import Namespace

import torch
from task import pose

torch.manual_seed(0)
os.makedirs("exp", exist_ok=True)
config = pose.__config__
config["opt"] = Namespace(exp="small", continue_exp=None)
config["inference"].update(nstack=2, inp_dim=16, oup_dim=4, num_parts=4)
train = pose.make_network(config)
for step in range(3):
    train(step, config, "train", imgs=torch.rand(2, 64, 64, 3), heatmaps=torch.rand(2, 4, 16, 16))
train(3, config, "valid", imgs=torch.rand(2, 64, 64, 3), heatmaps=torch.rand(2, 4, 16, 16))
found = train(4, config, "inference", imgs=torch.rand(1, 64, 64, 3))
print(found["preds"][0].sum())
