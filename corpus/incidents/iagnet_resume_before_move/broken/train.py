import argparse
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

from affordnet import get_affordnet


class PIAD(Dataset):
    def __init__(self, size):
        self.points = np.random.rand(size, 3, 20).astype(np.float32)
        self.images = np.random.rand(size, 3, 8, 8).astype(np.float32)
        self.labels = (self.points.sum(1, keepdims=True).transpose(0, 2, 1) > 1.5).astype(np.float32)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.images[index], self.points[index], self.labels[index]


class HM_Loss(nn.Module):
    def __init__(self):
        super(HM_Loss, self).__init__()
        self.gamma = 2
        self.alpha = 0.25

    def forward(self, pred, target):
        temp1 = -(1 - self.alpha) * torch.mul(pred ** self.gamma, torch.mul(1 - target, torch.log(1 - pred + 1e-6)))
        temp2 = -self.alpha * torch.mul((1 - pred) ** self.gamma, torch.mul(target, torch.log(pred + 1e-6)))
        return torch.sum(torch.mean(temp1 + temp2, (0, 1)))


def main(opt):
    np.random.seed(4)
    torch.manual_seed(4)
    device = torch.device('cuda:0') if torch.cuda.is_available() else torch.device('cpu')
    loader = DataLoader(PIAD(12), batch_size=6, shuffle=True)

    model = get_affordnet(emb_dim=12)
    criterion_hm = HM_Loss()
    param_dicts = [
        {"params": [p for n, p in model.named_parameters() if "img_encoder" not in n and p.requires_grad]},
        {"params": [p for n, p in model.named_parameters() if "img_encoder" in n and p.requires_grad], "lr": 1e-4},
    ]
    optimizer = torch.optim.Adam(params=param_dicts, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=opt.epochs, eta_min=1e-6)

    start_epoch = 0
    if opt.resume:
        model_checkpoint = torch.load(opt.checkpoint_path, map_location='cpu')
        model.load_state_dict(model_checkpoint['model'])
        optimizer.load_state_dict(model_checkpoint['optimizer'])
        start_epoch = model_checkpoint['Epoch']

    model = model.to(device)
    criterion_hm = criterion_hm.to(device)

    for epoch in range(start_epoch, start_epoch + 2):
        print(f'Epoch:[{epoch}] | lr: {optimizer.state_dict()["param_groups"][0]["lr"]:.5f}')
        model = model.train()
        for i, (img, points, label) in enumerate(loader):
            optimizer.zero_grad()
            img, points, label = img.to(device), points.to(device), label.to(device)
            _3d = model(img, points)
            temp_loss = criterion_hm(_3d, label)
            temp_loss.backward()
            optimizer.step()
            print(f'iteration: {i} | loss: {temp_loss.item():.5f}')
        scheduler.step()

    checkpoint = {'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'Epoch': epoch + 1}
    torch.save(checkpoint, opt.checkpoint_path)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--resume', type=bool, default=False, help='start training from the last checkpoint')
    parser.add_argument('--checkpoint_path', type=str, default=os.path.join('.', 'checkpoint.pt'))
    parser.add_argument('--epochs', type=int, default=4)
    main(parser.parse_args())
