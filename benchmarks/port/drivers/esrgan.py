import os
import runpy
import sys
import types

import numpy as np
import RRDBNet_arch
import torch


def read(path, color):
    draw = np.random.RandomState(len(path))
    return draw.randint(0, 256, (12, 16, 3)).astype(np.uint8)


def write(path, image):
    print(path, image.shape, "loss", float(np.abs(image / 255 - 0.5).mean()))


sys.modules["cv2"] = types.ModuleType("cv2")
vars(sys.modules["cv2"]).update(imread=read, imwrite=write, IMREAD_COLOR=1)
torch.manual_seed(0)
for folder in ("LR", "models", "results"):
    os.makedirs(folder, exist_ok=True)
for name in ("baboon", "comic"):
    with open(f"LR/{name}.png", "wb"):
        pass
torch.save(RRDBNet_arch.RRDBNet(3, 3, 64, 23, gc=32).state_dict(), "models/RRDB_ESRGAN_x4.pth")
sys.argv = ["test.py"]
runpy.run_path("test.py", run_name="__main__")
