# Character-level language model, fine-tuned on a text with new symbols.
import torch
import torch.nn as nn
import torch.nn.functional as F

BASE = "abcdefghijklmnopqrstuvwxyz "
TEXT = "the #1 rule of the #fight club is: you do not talk about the #fight club! " * 6


class CharLM(nn.Module):
    def __init__(self, vocab_size, dim=16):
        super().__init__()
        self.dim = dim
        self.embedding = nn.Embedding(vocab_size, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, vocab_size, bias=False)
        self.decoder.weight = self.embedding.weight

    def resize_token_embeddings(self, new_size):
        old = self.embedding.weight.data
        embedding = nn.Embedding(new_size, self.dim)
        embedding.weight.data[: old.size(0)] = old
        self.embedding = embedding
        self.decoder = nn.Linear(self.dim, new_size, bias=False)
        self.decoder.weight = self.embedding.weight

    def forward(self, ids):
        out, _ = self.rnn(self.embedding(ids))
        return self.decoder(out)


def get_batch(data, block, batch, gen):
    starts = torch.randint(0, len(data) - block - 1, (batch,), generator=gen)
    x = torch.stack([data[s:s + block] for s in starts])
    y = torch.stack([data[s + 1:s + block + 1] for s in starts])
    return x, y


def main():
    torch.manual_seed(1337)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"

    model = CharLM(len(BASE))
    model.to(device)

    symbols = BASE + "".join(sorted(set(TEXT) - set(BASE)))
    stoi = {c: i for i, c in enumerate(symbols)}
    print("new symbols:", len(symbols) - len(BASE))
    model.resize_token_embeddings(len(symbols))
    model.to(device)

    data = torch.tensor([stoi[c] for c in TEXT])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    gen = torch.Generator().manual_seed(5)
    for it in range(6):
        x, y = get_batch(data, 12, 8, gen)
        x, y = x.to(device), y.to(device)
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"iter {it}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
