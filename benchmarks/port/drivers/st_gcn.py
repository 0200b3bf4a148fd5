import os
import pickle
import runpy
import shutil
import sys

import numpy as np
import torch

sys.path.insert(0, "torchlight")
SETTINGS = """\
work_dir: ./work_dir/recognition/ntu-xsub/ST_GCN
feeder: feeder.feeder.Feeder
train_feeder_args: {data_path: ./data/train_data.npy, label_path: ./data/train_label.pkl}
test_feeder_args: {data_path: ./data/val_data.npy, label_path: ./data/val_label.pkl}
model: net.st_gcn.Model
model_args:
  in_channels: 3
  num_class: 60
  dropout: 0.5
  edge_importance_weighting: True
  graph_args: {layout: 'ntu-rgb+d', strategy: 'spatial'}
weight_decay: 0.0001
base_lr: 0.01
step: [10, 50]
device: [0]
num_worker: 0
batch_size: 2
test_batch_size: 2
num_epoch: 2
log_interval: 1
"""
shutil.rmtree("work_dir", ignore_errors=True)
os.makedirs("data", exist_ok=True)
with open("train.yaml", "w", encoding="utf-8") as file:
    file.write(SETTINGS)
draw = np.random.RandomState(0)
for part in ("train", "val"):
    np.save(f"data/{part}_data.npy", draw.randn(4, 3, 24, 25, 2).astype(np.float32))
    with open(f"data/{part}_label.pkl", "wb") as file:
        pickle.dump(([f"S{number:03d}" for number in range(4)], [int(label) for label in draw.randint(0, 60, 4)]), file)
torch.manual_seed(0)
sys.argv = ["main.py", "recognition", "-c", "train.yaml"]
runpy.run_path("main.py", run_name="__main__")
