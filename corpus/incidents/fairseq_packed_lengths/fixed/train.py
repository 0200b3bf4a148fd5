import torch

from lstm import LSTMModel


def move_to_cuda(sample):
    """Apply to every tensor of nested dicts and lists."""

    def _apply(x):
        if torch.is_tensor(x):
            return x.cuda()
        elif isinstance(x, dict):
            return {key: _apply(value) for key, value in x.items()}
        elif isinstance(x, list):
            return [_apply(x) for x in x]
        else:
            return x

    return _apply(sample)


def collate(n, vocab=20):
    lengths = torch.randint(3, 8, (n,)).sort(descending=True).values
    tokens = torch.zeros(n, int(lengths[0]), dtype=torch.long)
    for row, length in zip(tokens, lengths):
        row[:length] = torch.randint(1, vocab, (int(length),))
    return {"id": list(range(n)), "net_input": {"src_tokens": tokens, "src_lengths": lengths}, "target": tokens % 4}


class Trainer(object):
    def __init__(self, model):
        self.cuda = torch.cuda.is_available()
        self.model = model.cuda() if self.cuda else model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def train_step(self, sample):
        if self.cuda:
            sample = move_to_cuda(sample)
        self.optimizer.zero_grad()
        logits = self.model(**sample["net_input"])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), sample["target"].flatten())
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(3557)
    trainer = Trainer(LSTMModel(20, 12, 16, 4))
    for update in range(4):
        print(update, trainer.train_step(collate(5)))
