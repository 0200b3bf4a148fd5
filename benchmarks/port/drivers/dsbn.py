import runpy
import shutil
import sys

import numpy as np
import torch


class Digits(torch.utils.data.Dataset):
    classes = [str(digit) for digit in range(10)]

    def __init__(self, root, train, transform, download=False):
        draw = torch.Generator().manual_seed(len(root) + int(train))
        self.images = torch.rand(16, 1, 28, 28, generator=draw)
        self.labels = torch.randint(0, 10, (16,), generator=draw)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], int(self.labels[index])


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers, pin_memory, **options):
        super().__init__(dataset, **options)


from dataset import datasets

datasets.MNIST = datasets.USPS = Digits
torch.utils.data.DataLoader = Loader
np.uint32 = int  # as random.seed wants it since Python 3.11
shutil.rmtree("output", ignore_errors=True)
sys.argv = ["trainval_multi.py", "--model-name", "lenetdsbn", "--exp-setting", "digits", "--sm-loss", "--adv-loss"]
sys.argv += ["--source-datasets", "mnist", "--target-datasets", "usps", "--batch-size", "8", "--save-dir", "output/lenetdsbn_digits"]
sys.argv += ["--print-console", "--manual-seed", "1", "--num-workers", "0", "--early-stop-step", "4", "--save-interval", "2"]
sys.argv += ["--disp-interval", "1", "--warmup-step", "1", "--learning-rate", "0.001"]
runpy.run_path("trainval_multi.py", run_name="__main__")
