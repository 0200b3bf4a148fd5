import math

import torch
import torch.nn.functional as F
from model import LanguageModel

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1337)
text = torch.tensor([(i * i + 3 * i) % 12 for i in range(400)])


def get_batch(split, batch=6, context=8):
    data = text[:300] if split == "train" else text[300:]
    starts = torch.randint(len(data) - context - 1, (batch,))
    x = torch.stack([data[s : s + context] for s in starts])
    y = torch.stack([data[s + 1 : s + context + 1] for s in starts])
    return x.to(device), y.to(device)


@torch.no_grad()
def estimate_loss(model):
    out = {}
    model.eval()
    for split in ("train", "val"):
        losses = torch.zeros(3)
        for k in range(3):
            x, y = get_batch(split)
            losses[k] = F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
        out[split] = losses.mean()
    model.train()
    return out


def lr_at(it, peak=1e-2, warmup=3, total=12):
    if it < warmup:
        return peak * (it + 1) / warmup
    return 0.1 * peak + 0.45 * peak * (1 + math.cos(math.pi * (it - warmup) / (total - warmup)))


@torch.no_grad()
def generate(model, n):
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    for _ in range(n):
        logits = model(ids[:, -8:])[:, -1]
        ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
    return ids[0].tolist()


model = LanguageModel().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
for it in range(12):
    for group in optimizer.param_groups:
        group["lr"] = lr_at(it)
    x, y = get_batch("train")
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if it % 6 == 5:
        losses = estimate_loss(model)
        print(f"step {it}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
print("sample:", *generate(model, 10))
