import json
import os
import random
import runpy
import sys
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
parts = {"train": [], "test": []}
os.makedirs("shapes/train_test_split", exist_ok=True)
with open("shapes/synsetoffset2category.txt", "w", encoding="utf-8") as file:
    for name, number, scale in (("Airplane", "02691156", 0.3), ("Chair", "03001627", 1.0)):
        file.write(f"{name}\t{number}\n")
        os.makedirs(f"shapes/{number}/points", exist_ok=True)
        os.makedirs(f"shapes/{number}/points_label", exist_ok=True)
        for shape in range(6):
            points = np.random.randn(80, 3) * [1, scale, 1]
            np.savetxt(f"shapes/{number}/points/{shape}.pts", points)
            np.savetxt(f"shapes/{number}/points_label/{shape}.seg", 1 + (points[:, 0] > 0) + 2 * (points[:, 1] > 0), "%d")
            parts["train" if shape < 4 else "test"].append(f"shape_data/{number}/{shape}")
for part, names in parts.items():
    with open(f"shapes/train_test_split/shuffled_{part}_file_list.json", "w", encoding="utf-8") as file:
        json.dump(names, file)
os.makedirs("misc", exist_ok=True)
with open("misc/num_seg_classes.txt", "w", encoding="utf-8") as file:
    file.write("Airplane\t4\nChair\t4\n")
options = ["--dataset", "shapes", "--workers", "0", "--feature_transform"]
sys.argv = ["train_classification.py", "--batchSize", "4", "--num_points", "64", "--nepoch", "2", *options]
runpy.run_path("utils/train_classification.py", run_name="__main__")
sys.argv = ["train_segmentation.py", "--batchSize", "2", "--nepoch", "1", *options]
runpy.run_path("utils/train_segmentation.py", run_name="__main__")
