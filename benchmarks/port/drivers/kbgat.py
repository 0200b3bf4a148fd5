import os
import random
import sys

import numpy as np
import torch

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
os.makedirs("graph", exist_ok=True)
os.makedirs("out/conv", exist_ok=True)


def write(name, lines):
    with open(os.path.join("graph", name), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


entities, relations = [f"e{each}" for each in range(12)], [f"r{each}" for each in range(3)]
for name, words in (("entity", entities), ("relation", relations)):
    write(f"{name}2id.txt", [f"{word} {each}" for each, word in enumerate(words)])
    write(f"{name}2vec.txt", ["\t".join(f"{value:.4f}" for value in np.random.randn(6)) for _ in words])
triples = [f"e{each % 12} r{each % 3} e{(each + 1 + each // 12) % 12}" for each in range(24)]
write("train.txt", triples)
write("valid.txt", triples[:2])
write("test.txt", triples[2:4])
sys.argv = [
    "main.py", "--data", "graph/", "--epochs_gat", "2", "--epochs_conv", "2", "--get_2hop", "1", "--partial_2hop", "1",
    "--output_folder", "out/", "--batch_size_gat", "24", "--entity_out_dim", "4", "8", "--batch_size_conv", "24",
    "--valid_invalid_ratio_conv", "2", "--out_channels", "5",
]
import main
