import sys

import torch
import train

torch.manual_seed(0)
sys.argv = ["train.py", "--epochs", "1", "-b", "8", "--layers", "10", "--widen-factor", "1", "--no-augment", "-p", "1", "--name", "small"]
train.main()
