import torch

from callbacks import FreeMemory, Progress
from loop import Loop

torch.manual_seed(30)
Loop([Progress(), FreeMemory(every=3)]).fit(epochs=4)
