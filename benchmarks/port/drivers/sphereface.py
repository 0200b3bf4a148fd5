import runpy
import sys
import types

import dataset
import net_sphere
import numpy as np
import torch


class Faces:
    """Batches of images, as the processes of the data set give them."""

    def __init__(self, imageroot, callback, imagelistfile, name, bs, shuffle, nthread, imagesize):
        draw = np.random.RandomState(0)
        self.batches = [(draw.randn(bs, 3, 112, 96).astype(np.float32), draw.randint(0, 10, (bs, 1)).astype(np.float32)) for _ in range(4)]

    def get(self):
        return self.batches.pop() if self.batches else (None, None)


get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self.item() if isinstance(index, int) and not self.dim() else get(self, index)  # as in PyTorch 0.3
sys.modules["matlab_cp2tform"] = types.SimpleNamespace(get_similarity_transform_for_cv2=None)  # Python 2, for the files
dataset.ImageDataset = Faces
net_sphere.sphere20a.__init__.__defaults__ = 10, False
torch.manual_seed(0)
sys.argv = ["train.py", "--net", "sphere20a", "--bs", "4", "--lr", "0.01"]
runpy.run_path("train.py", run_name="__main__")
