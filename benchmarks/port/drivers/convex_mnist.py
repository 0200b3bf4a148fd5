import runpy
import sys

import numpy as np
import torch

torch.manual_seed(0)
np.random.seed(0)
sys.path.append("examples")
options = ["--epochs", "2", "--batch_size", "4", "--test_batch_size", "4", "--schedule_length", "2", "--epsilon", "0.02", "--verbose", "1"]
sys.argv = ["examples/mnist.py", *options, "--prefix", "small"]
runpy.run_path("examples/mnist.py", run_name="__main__")
