import math
import os
import re
import runpy
import sys
import types

import torch
import torchvision


def rearrange(values, pattern, **sizes):
    left, right = (re.findall(r"\(.*?\)|\S+", side) for side in pattern.split("->"))
    names = []
    for part, length in zip(left, values.shape, strict=True):
        group = part.strip("()").split()
        for name in group:
            if name not in sizes:
                sizes[name] = length // math.prod(sizes[other] for other in group if other != name)
        names += group
    values = values.reshape([sizes[name] for name in names])
    values = values.permute([names.index(name) for part in right for name in part.strip("()").split()])
    return values.reshape([math.prod(sizes[name] for name in part.strip("()").split()) for part in right])


class AxialPositionalEmbedding(torch.nn.Module):
    def __init__(self, dim, axial_shape):
        super().__init__()
        rows, columns = axial_shape
        self.rows = torch.nn.Parameter(torch.randn(1, rows, 1, dim))
        self.columns = torch.nn.Parameter(torch.randn(1, 1, columns, dim))

    def forward(self, x):
        return (self.rows + self.columns).flatten(1, 2)[:, : x.shape[1]]


class Images(torch.utils.data.Dataset):
    def __init__(self, folder, *transform):
        self.images = torch.rand(8, 3, 16, 16)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], 0


class Captions(Images):
    def __init__(self, folder, text_len, tokenizer, **options):
        super().__init__(folder)
        self.texts = tokenizer.tokenize(["a cat", "a red dog"] * 4, text_len)

    def __getitem__(self, index):
        return self.texts[index], self.images[index]


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


module("einops", rearrange=rearrange, repeat=None)
module("axial_positional_embedding", AxialPositionalEmbedding=AxialPositionalEmbedding)
module("ftfy", fix_text=str)
module("regex", compile=lambda pattern, flags: r"\w+", findall=re.findall, sub=re.sub, IGNORECASE=re.IGNORECASE)
torch.manual_seed(0)
torchvision.datasets.ImageFolder = Images
os.makedirs("images", exist_ok=True)
os.makedirs("dalle_pytorch/data", exist_ok=True)
with open("dalle_pytorch/data/bpe_simple_vocab_16e6.txt", "w", encoding="utf8") as file:
    file.write("version\nc a\nd o\n")
model = ["--num_tokens", "16", "--num_resnet_blocks", "1", "--emb_dim", "8", "--hidden_dim", "8"]
sys.argv = ["train_vae.py", "--image_folder", "images", "--image_size", "16", "--epochs", "2", "--batch_size", "4", *model]
runpy.run_path("train_vae.py", run_name="__main__")
import dalle_pytorch.loader

dalle_pytorch.loader.TextImageDataset = Captions
model = ["--dim", "16", "--text_seq_len", "8", "--depth", "2", "--heads", "2", "--dim_head", "8"]
files = ["--vae_path", "vae-final.pt", "--image_text_folder", "images"]
sys.argv = ["train_dalle.py", *files, "--epochs", "2", "--batch_size", "4", *model]
runpy.run_path("train_dalle.py", run_name="__main__")
