import os
import runpy
import sys
import types

import numpy as np
import torch
import torchvision


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
    return sys.modules[name]


class Picture:
    """An image that is written by PIL."""

    def save(self, path):
        pass


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, **options):
        super().__init__(dataset, **options)


def read(path, mode=1):
    draw = np.random.RandomState(int(os.path.basename(path)[:-4]))
    return draw.randint(0, 256, (32, 24, 3) if mode else (32, 24), np.uint8)


module("cv2", imread=read, IMREAD_GRAYSCALE=0)
module("PIL", Image=module("PIL.Image", fromarray=lambda data: Picture()))
module("scipy", io=module("scipy.io", savemat=lambda path, content: None))
module("tqdm", tqdm=lambda loader: loader)
torchvision.utils.save_image = lambda images, path: None
torch.manual_seed(0)
torch.utils.data.DataLoader = Loader
os.makedirs("data/HED-BSDS", exist_ok=True)
with open("data/HED-BSDS/train_pair.lst", "w", encoding="utf-8") as file:
    file.writelines(f"train/{number}.jpg train/{number}.png\n" for number in range(6))
with open("data/HED-BSDS/test.lst", "w", encoding="utf-8") as file:
    file.writelines(f"test/{number}.jpg\n" for number in range(10, 12))
sys.argv = ["hed.py", "--max_epoch", "1", "--train_iter_size", "2", "--print_freq", "2"]
runpy.run_path("hed.py", run_name="__main__")
