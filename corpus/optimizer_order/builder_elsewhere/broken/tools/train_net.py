import argparse
import os.path as osp
import sys

sys.path.insert(0, osp.dirname(osp.dirname(osp.abspath(__file__))))

import torch

from pointlib.config import get_cfg
from pointlib.data import make_batches
from pointlib.modeling import build_model
from pointlib.solver import build_lr_scheduler, build_optimizer


def do_train(cfg):
    model = build_model(cfg)
    optimizer = build_optimizer(cfg, model)
    scheduler = build_lr_scheduler(cfg, optimizer)

    device = torch.device(cfg.DEVICE)
    model.to(device)
    model.train()

    for iteration, (points, label) in enumerate(make_batches(cfg)):
        points = points.to(device)
        label = label.to(device)
        loss_dict = model(points, label)
        losses = sum(loss_dict.values())
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        scheduler.step()
        print("iter", iteration, {k: round(v.item(), 5) for k, v in loss_dict.items()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opts", nargs=argparse.REMAINDER, default=[])
    args = parser.parse_args()
    cfg = get_cfg()
    cfg.merge_from_list(args.opts)
    torch.manual_seed(cfg.SEED)
    do_train(cfg)


if __name__ == "__main__":
    main()
