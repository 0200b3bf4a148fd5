"""Processes that run functions of the program."""

from torch.multiprocessing import Process as Process
