"""Train two epochs, then resume from last.ckpt for two more, as a preempted job does."""
import json
import pathlib

import torch
from model import TagModel

CKPT = pathlib.Path("ckpt")


def get_device():
    return torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")


def batches(epoch, n=4):
    g = torch.Generator().manual_seed(100 + epoch)
    for _ in range(n):
        tokens = torch.randint(0, 20, (8, 5), generator=g)
        yield tokens, (tokens.sum(1) % 3)


def save(path, model, optimizer, scheduler, epoch, history, prior):
    torch.save(
        {
            "epoch": epoch,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "history": history,
            "prior": prior,
        },
        path,
    )


def fit(until):
    device = get_device()
    model = TagModel(20, 8, 3).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.8)
    start, history = 0, []
    prior = torch.full((3,), 1 / 3, device=device)
    last = CKPT / "last.ckpt"
    if last.exists():
        state = torch.load(last, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        start, history, prior = state["epoch"] + 1, state["history"], state["prior"]
        print(f"resumed at epoch {start}")
    for epoch in range(start, until):
        losses = []
        for tokens, tags in batches(epoch):
            tokens, tags = tokens.to(device), tags.to(device)
            logits = model(tokens) + prior.log()
            loss = torch.nn.functional.cross_entropy(logits, tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            prior = 0.9 * prior + 0.1 * logits.detach().softmax(1).mean(0)
            losses.append(loss.item())
        scheduler.step()
        history.append(sum(losses) / len(losses))
        save(last, model, optimizer, scheduler, epoch, history, prior)
    return history


if __name__ == "__main__":
    CKPT.mkdir(exist_ok=True)
    torch.manual_seed(11)
    fit(2)
    history = fit(4)
    (CKPT / "history.json").write_text(json.dumps({"loss": history}, indent=2))
    print(" ".join(f"{value:.4f}" for value in history))
