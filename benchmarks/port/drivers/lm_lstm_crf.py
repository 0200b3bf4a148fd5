import os
import random
import runpy
import sys

import torch

for name in ("masked_select", "masked_scatter_", "masked_fill_"):  # as in PyTorch 1.1, where a mask was of bytes
    method = getattr(torch.Tensor, name)
    setattr(torch.Tensor, name, lambda self, mask, *rest, method=method: method(self, mask.bool(), *rest))
random.seed(0)
torch.manual_seed(0)
folder = os.path.join("data", "ner")
for each in (folder, "embedding", "checkpoint"):
    os.makedirs(each, exist_ok=True)
words = [f"word{chr(97 + number)}" for number in range(20)]
tags = ["O", "S-PER", "B-LOC E-LOC", "B-ORG I-ORG E-ORG"]
for part in ("train", "testa", "testb"):
    with open(os.path.join(folder, f"eng.{part}.iobes"), "w", encoding="utf-8") as file:
        for length in (3, 5, 8, 12, 3, 5, 8, 12):
            labels = []
            while len(labels) < length:
                chosen = random.choice(tags).split()
                labels += chosen if len(labels) + len(chosen) <= length else ["O"]
            file.write("".join(f"{random.choice(words)} NN {label}\n" for label in labels) + "\n")
with open(os.path.join("embedding", "glove.6B.100d.txt"), "w", encoding="utf-8") as file:
    for word in ["unk", "other", *words]:
        file.write(word + "".join(f" {random.gauss(0, 0.3):.4f}" for _ in range(100)) + "\n")
sys.argv = ["train_wc.py", "--epoch", "1", "--batch_size", "2", "--caseless", "--high_way", "--co_train"]
runpy.run_path("train_wc.py", run_name="__main__")
