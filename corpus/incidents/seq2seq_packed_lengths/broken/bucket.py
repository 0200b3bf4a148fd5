import torch

PAD = 1


class Batch:
    def __init__(self, src, trg):
        self.src, self.trg = src, trg


class BucketIterator:
    """Batches of sentences of about the same length; with lengths where the field asks for them."""

    def __init__(self, pairs, batch_size, device=None, sort_within_batch=False, include_lengths=True):
        self.pairs = pairs
        self.batch_size = batch_size
        self.device = device
        self.sort_within_batch = sort_within_batch
        self.include_lengths = include_lengths

    def __len__(self):
        return len(self.pairs) // self.batch_size

    def numericalize(self, sents, lengths=False):
        longest = max(len(s) for s in sents)
        var = torch.tensor([s + [PAD] * (longest - len(s)) for s in sents], device=self.device).t().contiguous()
        if not lengths:
            return var
        return var, torch.tensor([len(s) for s in sents], device=self.device)

    def __iter__(self):
        for i in range(0, len(self.pairs), self.batch_size):
            chunk = self.pairs[i:i + self.batch_size]
            if self.sort_within_batch:
                chunk = sorted(chunk, key=lambda pair: len(pair[0]), reverse=True)
            src, trg = zip(*chunk)
            yield Batch(self.numericalize(src, self.include_lengths), self.numericalize(trg))
