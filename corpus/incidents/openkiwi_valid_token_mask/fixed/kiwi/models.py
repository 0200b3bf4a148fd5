import torch
from torch import nn

PAD_ID = 0
BAD_WEIGHT = 3.0


class QUETCH(nn.Module):
    """QUality Estimation from scraTCH: tags every token of a translation OK or BAD."""

    def __init__(self, vocab, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(vocab, config.embedding_size, padding_idx=PAD_ID)
        self.linear = nn.Linear(config.window_size * config.embedding_size, config.hidden)
        self.linear_out = nn.Linear(config.hidden, 2)
        weight = torch.ones(2)
        weight[1] = BAD_WEIGHT
        self._loss = nn.CrossEntropyLoss(reduction='sum', weight=weight)

    @staticmethod
    def get_mask(batch, side):
        input_tensor, lengths = batch[side]
        mask = input_tensor != PAD_ID
        # the last token of each sentence is a stop symbol without a tag
        positions = torch.arange(input_tensor.size(1), device=input_tensor.device).unsqueeze(0)
        mask &= positions < (lengths - 1).unsqueeze(1)
        return mask

    def make_input(self, batch, side):
        tokens, _ = batch[side]
        pad = self.config.window_size // 2
        padded = nn.functional.pad(tokens, (pad, pad), value=PAD_ID)
        return padded.unfold(1, self.config.window_size, 1)

    def forward(self, batch):
        h = self.embedding(self.make_input(batch, 'target')).flatten(2)
        h = torch.tanh(self.linear(h))
        return {'tags': self.linear_out(h)}

    def loss(self, model_out, batch):
        mask = self.get_mask(batch, 'target')
        logits = model_out['tags'][mask]
        y = batch['tags'][mask]
        return self._loss(logits, y) / len(y)
