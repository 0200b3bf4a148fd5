import runpy
import sys

import torch
import vgg


class Loader(torch.utils.data.DataLoader):
    def __init__(self, dataset, num_workers=0, **options):
        super().__init__(dataset, **options)


get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self.item() if isinstance(index, int) and not self.dim() else get(self, index)  # as in PyTorch 0.3
torch.utils.data.DataLoader = Loader
vgg.vgg.__init__.__defaults__ = "cifar10", True, [16, 16, "M", 32, 32, "M", 32, 32, "M", 64, 64, "M", 64, 64]
options = ["--batch-size", "8", "--epochs", "1", "--log-interval", "1"]
torch.manual_seed(0)
sys.argv = ["main.py", "-sr", "--s", "0.0001", *options]
runpy.run_path("main.py", run_name="__main__")
sys.argv = ["prune.py", "--model", "model_best.pth.tar", "--save", "pruned.pth.tar", "--percent", "0.5"]
runpy.run_path("prune.py", run_name="__main__")
sys.argv = ["main.py", "--refine", "pruned.pth.tar", *options]
runpy.run_path("main.py", run_name="__main__")
