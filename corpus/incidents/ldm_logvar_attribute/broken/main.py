import torch
from torch import nn

from ddpm import DDPM


def get_input(batch, device):
    return batch['edited'].to(device), batch['edit'].to(device)


def main():
    torch.manual_seed(23)
    device = torch.device('cuda') if torch.cuda.is_available() else torch.device('cpu')
    model = DDPM(nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 8)))
    model = model.to(device)
    opt = torch.optim.AdamW(list(model.model.parameters()), lr=1e-3)
    for it in range(4):
        batch = {'edited': torch.randn(5, 8), 'edit': torch.randn(5, 8), 'caption': ['make it snow'] * 5}
        x, c = get_input(batch, device)
        loss, loss_dict = model(x, c)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(it, ', '.join('%s=%.4f' % kv for kv in loss_dict.items()))


if __name__ == '__main__':
    main()
