"""Processes that run functions of the program."""

from torch.multiprocessing import JoinableQueue as JoinableQueue
from torch.multiprocessing import Pool as Pool
from torch.multiprocessing import Process as Process
from torch.multiprocessing import Queue as Queue
from torch.multiprocessing import SimpleQueue as SimpleQueue
from torch.multiprocessing import set_start_method as set_start_method
