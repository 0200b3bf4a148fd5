import argparse
import pickle

import torch

p = argparse.ArgumentParser()
p.add_argument('--restart')
p.add_argument('--dump')
p.add_argument('--gpu', type=int, default=0)
opt = p.parse_args()

torch.manual_seed(0)
dev = torch.device('cuda:%d' % opt.gpu) if torch.cuda.is_available() else torch.device('cpu')


class Settings(object):
    def __init__(self, lr, decay):
        self.lr = lr
        self.decay = decay


w = torch.zeros(4, 1, device=dev, requires_grad=True)
start = 0
settings = dict(lr=0.1, decay=0.99)
if opt.restart:
    saved = torch.load(opt.restart, None, pickle, weights_only=False)
    w = saved['w'].requires_grad_(True)
    start = saved['it']
    settings = saved['settings']

cfg = Settings(**settings)
g = torch.Generator().manual_seed(3)
x = torch.randn(50, 4, generator=g).to(dev)
y = x @ torch.tensor([[1.], [-1.], [2.], [0.]]).to(dev)
solver = torch.optim.SGD([w], lr=cfg.lr)
for it in range(start, start + 5):
    loss = ((x @ w - y) ** 2).mean()
    solver.zero_grad()
    loss.backward()
    solver.step()
    print(it, '%.6f' % loss.item())

if opt.dump:
    torch.save({'w': w.detach(), 'it': start + 5, 'settings': settings}, opt.dump, pickle)
