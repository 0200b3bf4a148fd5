import argparse
from dataclasses import dataclass, fields

import dist


@dataclass
class Args:
    local_out_dir_path: str = 'local_output'
    ep: int = 2                 # total epochs
    bs: int = 8
    ac: int = 1                 # gradient accumulation
    depth: int = 1
    length: int = 6
    tlr: float = 1e-2
    tclip: float = 2.
    ls: float = 0.0             # label smooth
    opt: str = 'adamw'
    afuse: bool = True          # fused adamw
    fp16: int = 0
    seed: int = 11
    device: str = 'cpu'         # automatically set


def init_dist_and_get_args():
    parser = argparse.ArgumentParser()
    for f in fields(Args):
        if f.type is not bool and f.name != 'device':
            parser.add_argument(f'--{f.name}', type=f.type, default=f.default)
    args = Args(**vars(parser.parse_args()))

    # init torch distributed
    dist.initialize()

    # set env
    args.device = dist.get_device()
    return args
