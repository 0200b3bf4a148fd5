import os
import runpy
import shutil
import sys

import numpy as np
import torch

os.makedirs("data/objects", exist_ok=True)
points = np.stack(np.meshgrid(*[np.linspace(-1, 1, 32)] * 3, indexing="ij"))
for number in range(4):
    draw = np.random.RandomState(number)
    sizes = draw.uniform(0.3, 0.7, (3, 1, 1, 1))
    np.savez(f"data/objects/{number}.npz", df=np.abs(np.linalg.norm(points / sizes, axis=0) - 1))
with open("data/objects/df_car.txt", "w", encoding="utf-8") as file:
    file.writelines(f"objects/{number}.npz\n" for number in range(4))
shutil.rmtree("checkpoints", ignore_errors=True)
torch.manual_seed(0)
sys.argv = ["train.py", "--gpu_ids", "0", "--display_id", "0", "--dataset_mode", "df", "--model", "shape_gan", "--class_3d", "car"]
sys.argv += ["--checkpoints_dir", "checkpoints/shape/car_df", "--niter", "1", "--niter_decay", "1", "--batch_size", "2", "--save_epoch_freq", "1"]
sys.argv += ["--suffix", "{class_3d}_{model}_{dataset_mode}", "--voxel_res", "32", "--ngf_3d", "8", "--ndf_3d", "8", "--num_threads", "0"]
sys.argv += ["--print_freq", "2", "--no_html"]
runpy.run_path("train.py", run_name="__main__")
