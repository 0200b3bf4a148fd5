import runpy
import sys

import torch
import tqdm

tqdm.tqdm = lambda steps: steps[10:11]
torch.manual_seed(0)
sys.argv = ["example_gan.py"]
runpy.run_path("gan/example_gan.py", run_name="__main__")
