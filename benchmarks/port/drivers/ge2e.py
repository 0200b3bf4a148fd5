import os
import random

import numpy as np
import torch
import yaml

CONFIG = """\
training: true
device: "cuda"
---
data: {train_path: ./train_tisv, data_preprocessed: true, sr: 16000, nmels: 8}
---
model: {hidden: 16, num_layer: 2, proj: 8, model_path: ./model.model}
---
train: {N: 2, M: 3, num_workers: 0, lr: 0.01, epochs: 2, log_interval: 1, log_file: ./speech_id_checkpoint/Stats,
  checkpoint_interval: 1, checkpoint_dir: ./speech_id_checkpoint, restore: false}
"""

load_all = yaml.load_all
yaml.load_all = lambda stream: load_all(stream, yaml.SafeLoader)  # as in PyYAML 5
draw = np.random.RandomState(0)
os.makedirs("config", exist_ok=True)
os.makedirs("train_tisv", exist_ok=True)
with open(os.path.join("config", "config.yaml"), "w", encoding="utf-8") as file:
    file.write(CONFIG)
for speaker in range(4):
    np.save(os.path.join("train_tisv", f"speaker{speaker}.npy"), draw.rand(4, 8, 24).astype("float32"))
import train_speech_embedder

torch.manual_seed(0)
np.random.seed(0)
random.seed(0)
train_speech_embedder.train("model.model")
