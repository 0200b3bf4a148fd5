"""Processes that run functions of the program."""

from queue import Queue as JoinableQueue
from queue import Queue as Queue
from queue import Queue as SimpleQueue
from torch.multiprocessing import Pool as Pool
from torch.multiprocessing import Process as Process
from torch.multiprocessing import set_start_method as set_start_method
