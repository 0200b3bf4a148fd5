import argparse
import logging
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

log = logging.getLogger("pretrain")


class MaskedModel(nn.Module):
    def __init__(self, vocab=20, dim=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 24, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.layer(self.emb(ids)))


def masked_batch(device):
    ids = torch.randint(1, 20, (6, 8))
    mask = torch.rand(6, 8) < 0.3
    mask[:, 0] = True
    return ids.masked_fill(mask, 0).to(device), ids.masked_fill(~mask, -100).to(device)


def main(args):
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(name)s: %(message)s")
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    torch.manual_seed(args.seed)
    model = MaskedModel().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    step = 0

    if args.resume:
        snapshot = torch.load(args.resume, map_location="cpu")
        step = snapshot["step"]
        model.load_state_dict(snapshot["model"])
        optimizer.load_state_dict(snapshot["optimizer"])
        torch.set_rng_state(snapshot["rng"])
        log.info("resumed at step %d", step)

    last = step + args.steps
    while step < last:
        ids, labels = masked_batch(device)
        loss = F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        log.info("step %d loss %.5f", step, loss.item())

    if args.save:
        torch.save({
            "step": step,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "rng": torch.get_rng_state(),
        }, args.save)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--resume")
    ap.add_argument("--save")
    ap.add_argument("--steps", type=int, default=4)
    ap.add_argument("--seed", type=int, default=1)
    main(ap.parse_args())
