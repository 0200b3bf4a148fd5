import argparse
import random

import torch
from gpt2 import train_model

words = ["<unk>", *(f"w{each}" for each in range(20))]
random.seed(0)
torch.manual_seed(0)
with open("vocab.txt", "w", encoding="utf-8") as file:
    file.write("\n".join(words))
for name in ("corpus.train.txt", "corpus.test.txt"):
    with open(name, "w", encoding="utf-8") as file:
        for _ in range(8):
            file.write(" ".join(random.choices(words, k=random.randint(4, 10))) + "\n")
parser = argparse.ArgumentParser(prog="gpt2")
train_model.add_subparser(parser.add_subparsers(dest="subcommands"))
common = [
    "train", "--train_corpus", "corpus.train.txt", "--eval_corpus", "corpus.test.txt", "--vocab_path", "vocab.txt",
    "--seq_len", "12", "--layers", "1", "--heads", "2", "--dims", "16", "--batch_train", "2", "--batch_eval", "2",
    "--eval_steps", "2", "--save_steps", "2",
]
for more in (["--total_steps", "3"], ["--total_steps", "4", "--use_grad_ckpt", "--from_pretrained", "model.pth"]):
    args = parser.parse_args(common + more)
    args.func(args)
