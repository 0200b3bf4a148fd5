import runpy
import sys
import types

import torch


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


class Images(torch.utils.data.Dataset):
    benchmark = False

    def __init__(self, args, train=True):
        self.scale, self.count = args.scale, 4 if train else 1
        self.idx_scale = 0

    def set_scale(self, idx_scale):
        self.idx_scale = idx_scale

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        hr = torch.rand(3, 32, 32) * 255
        return torch.nn.functional.avg_pool2d(hr, self.scale[self.idx_scale]), hr, str(index)


class MSDataLoader(torch.utils.data.DataLoader):
    """The loader of the repository without its processes, which use removed parts of PyTorch."""

    def __init__(self, args, dataset, **options):
        super().__init__(dataset, **options)

    def __iter__(self):
        for batch in super().__iter__():
            yield [*batch, 0]


module("scipy")
module("scipy.misc")
sys.modules["scipy"].misc = sys.modules["scipy.misc"]
module("dataloader", MSDataLoader=MSDataLoader)
module("data.div2k", DIV2K=Images)
sys.argv = [
    "main.py", "--model", "RCAN", "--save", "RCAN_small", "--scale", "2", "--n_resgroups", "2", "--n_resblocks", "2", "--n_feats", "16",
    "--reduction", "4", "--reset", "--batch_size", "2", "--epochs", "3", "--print_every", "1", "--loss", "1*L1+0.5*MSE",
]
runpy.run_path("main.py", run_name="__main__")
