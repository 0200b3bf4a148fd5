import argparse
import os

import torch
import torch.nn as nn

CKPT = "last.pt"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    start = 0
    if args.resume and os.path.exists(CKPT):
        state = torch.load(CKPT, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        start = state["step"]
        del state
    for step in range(start, start + 4):
        x = torch.randn(10, 4)
        loss = nn.functional.cross_entropy(model(x.to(device)), (x[:, 0] > x[:, 1]).long().to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(step, loss.item())
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "scheduler": scheduler.state_dict(), "step": start + 4}, CKPT)


if __name__ == "__main__":
    main()
