import os
import pickle
import runpy
import sys

import numpy as np
import torch
import yaml

CONFIG = """\
work_dir: ./work_dir/agcn_joint
model_saved_name: ./runs/ntu_cv_agcn_joint
feeder: feeders.feeder.Feeder
train_feeder_args: {data_path: ./train.npy, label_path: ./train.pkl, debug: false}
test_feeder_args: {data_path: ./val.npy, label_path: ./val.pkl}
model: model.agcn.Model
model_args: {num_class: 6, num_point: 25, num_person: 2, graph: graph.ntu_rgb_d.Graph, graph_args: {labeling_mode: spatial}}
weight_decay: 0.0001
base_lr: 0.1
step: [30, 40]
device: [0]
batch_size: 2
test_batch_size: 2
num_epoch: 1
num_worker: 0
nesterov: True
"""

load = yaml.load
yaml.load = lambda stream: load(stream, yaml.SafeLoader)  # as in PyYAML 5
import graph
import model.agcn

draw = np.random.RandomState(0)
os.makedirs("runs", exist_ok=True)
with open("train.yaml", "w", encoding="utf-8") as file:
    file.write(CONFIG)
for part in ("train", "val"):
    np.save(part + ".npy", draw.rand(4, 3, 16, 25, 2).astype("float32"))
    with open(part + ".pkl", "wb") as file:
        pickle.dump(([f"S{each}" for each in range(4)], [int(each) for each in draw.randint(0, 6, 4)]), file)
torch.manual_seed(0)
sys.argv = ["main.py", "--config", "train.yaml"]
runpy.run_path("main.py", run_name="__main__")
