"""Emotion of a dialogue of three turns, from word embeddings and precomputed contextual ones."""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset

from module.hierarchical import HierarchicalPredictor

parser = argparse.ArgumentParser(description='Options')
parser.add_argument('-epochs', default=3, type=int)
parser.add_argument('-bs', default=4, type=int)
parser.add_argument('-lr', default=5e-3, type=float)
parser.add_argument('-clip', default=2.0, type=float)
opt = parser.parse_args()

NUM_EMO = 4
VOCAB = 30
ELMO_DIM = 6
random.seed(3)
np.random.seed(3)
torch.manual_seed(3)


class TrainDataSet(Dataset):
    def __init__(self, n, pad_len):
        self.turns = np.random.randint(1, VOCAB, (n, 3, pad_len))
        self.elmo = np.random.randn(n, 3, pad_len, ELMO_DIM).astype(np.float32)
        self.label = self.turns[:, 2, 0] % NUM_EMO

    def __len__(self):
        return len(self.label)

    def __getitem__(self, idx):
        return (torch.LongTensor(self.turns[idx]), torch.from_numpy(self.elmo[idx]), torch.tensor(self.label[idx]))


def main():
    data_loader = DataLoader(TrainDataSet(8, 5), batch_size=opt.bs, shuffle=True)
    model = HierarchicalPredictor(VOCAB, 8, ELMO_DIM, 10, NUM_EMO)
    model.cuda() if torch.cuda.is_available() else None
    loss_criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr, amsgrad=True)

    for epoch in range(1, opt.epochs + 1):
        print('===== Start training: epoch {} ====='.format(epoch))
        train_loss = 0
        model.train()
        for a, (turns, elmo, e_label) in enumerate(data_loader):
            optimizer.zero_grad()
            if torch.cuda.is_available():
                pred = model(Variable(turns.cuda()), elmo.cuda())
                loss = loss_criterion(pred, Variable(e_label.view(-1)).cuda())
            else:
                pred = model(Variable(turns), elmo)
                loss = loss_criterion(pred, Variable(e_label.view(-1)))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), opt.clip)
            optimizer.step()
            train_loss += loss.item() * len(turns)
        print('training loss', round(train_loss / len(data_loader.dataset), 4))


main()
