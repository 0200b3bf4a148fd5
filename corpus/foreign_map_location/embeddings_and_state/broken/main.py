import sys

import torch
from torch import nn


def load_everything(model, path):
    blob = torch.load(path, map_location="cpu")
    model.load_state_dict(blob["model"])
    return blob["vectors"]


def run(device):
    model = nn.GRU(6, 4, batch_first=True)
    if "init" in sys.argv:
        torch.save({"model": model.state_dict(), "vectors": torch.randn(20, 6)}, "blob.pt")
        return
    model = model.to(device)
    vectors = load_everything(model, "blob.pt")
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        tokens = torch.randint(0, 20, (3, 5)).to(device)
        words = nn.functional.embedding(tokens, vectors)
        out, _ = model(words)
        loss = out.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    torch.manual_seed(5)
    run(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
