import os


def local_rank():
    return int(os.environ["LOCAL_RANK"])
