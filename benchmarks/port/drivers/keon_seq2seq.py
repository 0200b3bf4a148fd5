import random
import sys
from argparse import Namespace

import torch
import train


class Batches(list):
    dataset = range(4)


class Words(list):
    stoi = {"<pad>": 1}


def load_dataset(batch_size):
    def batches(count):
        lengths = torch.tensor([6] * batch_size)
        return Batches(
            Namespace(src=(torch.randint(1, 30, (6, batch_size)), lengths), trg=(torch.randint(1, 40, (7, batch_size)), lengths))
            for _ in range(count)
        )

    german, english = Namespace(vocab=Words(range(30))), Namespace(vocab=Words(range(40)))
    return batches(2), batches(1), batches(1), german, english


torch.manual_seed(0)
random.seed(0)
train.load_dataset = load_dataset
sys.argv = ["train.py", "-epochs", "2", "-batch_size", "3"]
train.main()
