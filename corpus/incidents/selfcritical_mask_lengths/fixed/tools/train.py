import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

import numpy as np
import torch

from captioning.models.AttModel import AttModel, LanguageModelCriterion


class DataLoader:
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.rng = np.random.RandomState(239)

    def get_batch(self, split):
        n, longest = self.batch_size, 6
        count = self.rng.randint(3, longest + 1, n)
        count[0] = longest
        masks = (np.arange(longest)[None] < count[:, None]).astype('float32')
        labels = self.rng.randint(1, 15, (n, 7))
        labels[:, 0] = 0
        return {
            'fc_feats': self.rng.randn(n, 8).astype('float32'),
            'att_feats': self.rng.randn(n, longest, 8).astype('float32') * masks[:, :, None],
            'labels': labels, 'masks': np.ones((n, 7), 'float32'), 'att_masks': masks,
            'infos': [{'ix': i} for i in range(n)],
        }


def train():
    torch.manual_seed(239)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    loader = DataLoader(4)
    model = AttModel(vocab_size=15, rnn_size=12, feat_size=8).to(device)
    crit = LanguageModelCriterion()
    optimizer = torch.optim.Adam(model.parameters(), 5e-4, (0.9, 0.999))
    model.train()

    for iteration in range(4):
        data = loader.get_batch('train')
        tmp = [data['fc_feats'], data['att_feats'], data['labels'], data['masks'], data['att_masks']]
        tmp = [_ if _ is None else torch.from_numpy(_).to(device) for _ in tmp]
        fc_feats, att_feats, labels, masks, att_masks = tmp

        optimizer.zero_grad()
        loss = crit(model(fc_feats, att_feats, labels[..., :-1], att_masks), labels[..., 1:], masks[..., 1:])
        loss.backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimizer.step()
        print("iter {}, train_loss = {:.3f}".format(iteration, loss.item()))


train()
