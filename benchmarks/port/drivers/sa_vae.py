import runpy
import sys
import types

import numpy as np
import torch


def sentences(path, mode):
    draw = np.random.RandomState(len(path))
    return {
        "source": draw.randint(4, 20, (4, 6)), "source_l": np.array([6, 5]), "batch_l": np.array([2, 2]), "batch_idx": np.array([0, 2]),
        "vocab_size": np.array([20]),
    }


sys.modules["h5py"] = types.ModuleType("h5py")
sys.modules["h5py"].File = sentences
get = torch.Tensor.__getitem__
torch.Tensor.__getitem__ = lambda self, index: self.item() if isinstance(index, int) and not self.dim() else get(self, index)  # as in PyTorch 0.3
torch.nn.utils.clip_grad_norm = torch.nn.utils.clip_grad_norm_  # as in PyTorch 0.3
common = ["--gpu", "0", "--num_epochs", "1", "--svi_steps", "2", "--print_every", "1"]
sizes = ["--enc_word_dim", "8", "--enc_h_dim", "8", "--dec_word_dim", "8", "--dec_h_dim", "8", "--latent_dim", "4"]
sys.argv = ["train_text.py", *sizes, *common]
runpy.run_path("train_text.py", run_name="__main__")
draw = torch.Generator().manual_seed(0)
torch.save([torch.rand(count, 1, 28, 28, generator=draw).round() for count in (4, 2, 2)], "omniglot.pt")
sys.argv = ["train_img.py", "--data_file", "omniglot.pt", "--batch_size", "2", *common]
runpy.run_path("train_img.py", run_name="__main__")
