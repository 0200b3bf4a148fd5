"""Processes that run functions of the program."""

from torch.multiprocessing import Process as Process
from torch.multiprocessing import set_start_method as set_start_method
