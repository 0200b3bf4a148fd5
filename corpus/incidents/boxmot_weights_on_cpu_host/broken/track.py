import argparse
from pathlib import Path

import torch
from torch import nn

from reid.factory import build_model, load_pretrained_weights


def select_device(device=''):
    device = str(device).lower().strip().replace('cuda:', '')
    cpu = device == 'cpu'
    if not cpu and torch.cuda.is_available():
        return torch.device(f'cuda:{device or 0}')
    return torch.device('cpu')


class ReidTracker:
    """Keeps one feature per identity, and adapts the network to what it sees."""

    def __init__(self, weights: Path, device: torch.device):
        self.device = device
        self.model = build_model('osnet_tiny', num_classes=5)
        load_pretrained_weights(self.model, weights)
        self.model.to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-2)

    def update(self, crops, ids):
        logits = self.model(crops.to(self.device))
        loss = nn.functional.cross_entropy(logits, ids.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def pretrain(weights: Path, device: torch.device):
    model = build_model('osnet_tiny', num_classes=8).to(device)
    weights.parent.mkdir(exist_ok=True)
    torch.save({'state_dict': model.state_dict(), 'epoch': 0}, weights)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--reid-model', type=Path, default=Path('weights') / 'osnet_tiny.pt')
    parser.add_argument('--device', default='', help='cuda device, i.e. 0 or 0,1,2,3 or cpu')
    parser.add_argument('--pretrain', action='store_true')
    opt = parser.parse_args()
    torch.manual_seed(1476)
    where = select_device(opt.device)
    if opt.pretrain:
        pretrain(opt.reid_model, where)
    else:
        tracker = ReidTracker(opt.reid_model, where)
        for frame in range(4):
            print(frame, tracker.update(torch.rand(6, 3, 8, 8), torch.randint(5, (6,))))
