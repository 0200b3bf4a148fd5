import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description='targeted weight flip')
parser.add_argument('--target-class', dest='target_class', default=0, type=int)
parser.add_argument('--attack-idx', dest='attack_idx', default=0, type=int)
parser.add_argument('--lam', default=10., type=float)
parser.add_argument('--k-bits', '-k', dest='k_bits', default=5, type=float)
parser.add_argument('--inner', default=5, type=int)
args = parser.parse_args()

np.random.seed(512)
torch.manual_seed(512)
DEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'


class AugLag(nn.Module):
    """The last layer with relaxed weights; only they are trained."""

    def __init__(self, w, b):
        super(AugLag, self).__init__()
        self.w = nn.Parameter(w.clone())
        self.b = nn.Parameter(b.clone(), requires_grad=False)

    def forward(self, x):
        return F.linear(x, self.w, self.b)


def load_data():
    mids = torch.randn(60, 24)
    labels = torch.randint(0, 6, (60,))
    return mids, labels


def cal_loss(output, clean_output, labels, s, t, weight, lam, w, w_twin):
    margin = output[-1][s] - output[-1][t] + 5.
    l1_loss = torch.clamp(margin, min=0.)
    l2_loss = F.cross_entropy(output[:-1], labels[:-1])
    drift = (w - w_twin).pow(2).sum()
    return l1_loss + lam * l2_loss + weight * drift


def main():
    all_data, labels = load_data()
    labels_cuda = labels.to(DEVICE)
    weight = torch.randn(6, 24) * 0.2
    bias = torch.zeros(6)

    auglag = AugLag(weight, bias).to(DEVICE)
    w_twin = weight.clone().to(DEVICE)

    auxiliary_idx = [i for i in np.random.choice(60, 17, replace=False) if i != args.attack_idx][:16]
    input_indices = auxiliary_idx + [args.attack_idx]
    batch = all_data[input_indices].to(DEVICE)
    source_class = int(labels[args.attack_idx])
    clean_output = auglag(batch).detach()

    optimizer = torch.optim.SGD([auglag.w], lr=0.02)
    for inner in range(args.inner):
        output = auglag(batch)
        loss = cal_loss(output, clean_output,
                        labels[input_indices],
                        source_class, args.target_class, args.k_bits / 1e3, args.lam, auglag.w, w_twin)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        print('inner %d loss %.4f' % (inner, loss.item()))

    pred = auglag(all_data.to(DEVICE)).argmax(1)
    acc = (pred == labels_cuda).float().mean().item()
    print('flipped:', bool(pred[args.attack_idx].item() == args.target_class), 'acc %.3f' % acc)


if __name__ == '__main__':
    main()
