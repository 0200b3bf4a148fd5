import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import torch
from torch.utils.data import DataLoader

from segkit.data import RandomShapes
from segkit.loss import dice_loss
from segkit.model import UNetLite
from segkit.progress import progress


def get_parser():
    parser = argparse.ArgumentParser("segmentation")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser


def train_one_epoch(model, optimizer, loader, device, epoch):
    model.train()
    for it, (image, mask, path) in enumerate(progress(loader, desc=f"epoch {epoch}"), 1):
        image = image.to(device, non_blocking=True)
        mask = mask.to(device, non_blocking=True)
        logits = model(image)
        loss = dice_loss(logits, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"it {it} dice {loss.item():.5f} ({path[0]})")


def main():
    args = get_parser().parse_args()
    torch.manual_seed(4)
    device = torch.device(args.device)
    loader = DataLoader(RandomShapes(12), batch_size=args.batch_size, shuffle=True)
    model = UNetLite().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        train_one_epoch(model, optimizer, loader, device, epoch)


if __name__ == "__main__":
    main()
