"""Work that does what the repository is called; it is no test, so that workers of a cluster can import it."""

import os
import signal
import time

from devfix.migrate.progress import Stages
from devfix.migrate.record import Record, RepositoryOutcome


def work(task):
    stages = Stages(task.scratch, task.number, task.name)
    stages.enter("scan")
    word, _, more = task.source.partition("#")
    if word == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif word == "kills its worker":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    elif word == "hangs":
        time.sleep(600)
    elif word == "raises":
        raise ValueError(f"never mind {task.source}")
    elif word == "tells":
        print(f"process {os.getpid()}", flush=True)
        time.sleep(600)
    elif word == "sleeps":
        time.sleep(float(more))
    stages.end()
    return Record(task.number, task.name, task.repository, RepositoryOutcome.CLEAN, log=str(os.getppid()))
