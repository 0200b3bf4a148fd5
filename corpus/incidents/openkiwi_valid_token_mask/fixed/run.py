import argparse
import random
from collections import namedtuple

import torch

from kiwi.models import PAD_ID, QUETCH

Config = namedtuple('Config', 'embedding_size window_size hidden')


def batches(n, size, rng, device):
    for _ in range(n):
        sents = [[rng.randint(2, 29) for _ in range(rng.randint(4, 9))] for _ in range(size)]
        longest = max(map(len, sents))
        target = torch.tensor([s + [PAD_ID] * (longest - len(s)) for s in sents])
        lengths = torch.tensor([len(s) for s in sents])
        yield {
            'target': (target.to(device), lengths.to(device)),
            'tags': (target % 5 == 0).long().to(device),
        }


class Trainer:
    def __init__(self, model, optimizer, device):
        self.model = model
        self.optimizer = optimizer
        self.device = device
        self._step = 0

    def train_epoch(self, train_iterator):
        self.model.train()
        for batch in train_iterator:
            self._step += 1
            self.model.zero_grad()
            model_out = self.model(batch)
            loss = self.model.loss(model_out, batch)
            loss.backward()
            self.optimizer.step()
            print('step %d: %.4f' % (self._step, loss.item()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--gpu-id', type=int, default=0)
    options = parser.parse_args()

    rng = random.Random(44)
    torch.manual_seed(44)
    device = 'cpu'
    if options.gpu_id is not None and torch.cuda.is_available():
        device = 'cuda:{}'.format(options.gpu_id)
    model = QUETCH(30, Config(8, 3, 16)).to(device)
    trainer = Trainer(model, torch.optim.Adam(model.parameters(), 5e-3), device)
    for _ in range(options.epochs):
        trainer.train_epoch(batches(2, 4, rng, device))


if __name__ == '__main__':
    main()
