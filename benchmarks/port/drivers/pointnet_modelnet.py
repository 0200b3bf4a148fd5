import os
import random
import runpy
import shutil
import sys

import numpy as np
import torch


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
np.int = int  # as in NumPy 1.23
torch.utils.data.DataLoader = Loader
folder = "data/modelnet40_normal_resampled"
kinds = ["bathtub", "bed", "chair", "desk", "dresser", "monitor", "night_stand", "sofa", "table", "toilet"]
os.makedirs(folder, exist_ok=True)
with open(f"{folder}/modelnet10_shape_names.txt", "w", encoding="utf-8") as file:
    file.writelines(f"{kind}\n" for kind in kinds)
parts = {"train": range(1, 2), "test": range(2, 3)}
for part, numbers in parts.items():
    with open(f"{folder}/modelnet10_{part}.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{kind}_{number:04d}\n" for kind in kinds for number in numbers)
    for kind in kinds:
        os.makedirs(f"{folder}/{kind}", exist_ok=True)
        for number in numbers:
            points = np.random.randn(64, 6) * ([1 + kinds.index(kind), 1, 1] * 2)
            np.savetxt(f"{folder}/{kind}/{kind}_{number:04d}.txt", points, "%.6f", ",")
for model in ("pointnet_cls", "pointnet2_cls_ssg"):
    shutil.rmtree(f"log/classification/{model}", ignore_errors=True)
    sys.argv = ["train_classification.py", "--model", model, "--log_dir", model, "--num_category", "10", "--num_point", "64"]
    sys.argv += ["--batch_size", "5", "--epoch", "1", "--use_normals"]
    runpy.run_path("train_classification.py", run_name="__main__")
