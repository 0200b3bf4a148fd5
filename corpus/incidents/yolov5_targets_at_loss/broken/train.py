import argparse
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from models.yolo import DetectionModel
from utils.loss import ComputeLoss


class LoadImagesAndLabels(Dataset):
    def __init__(self, n, img_size=16):
        self.imgs = np.random.randint(0, 255, (n, 3, img_size, img_size), dtype=np.uint8)
        self.labels = [np.concatenate((np.random.randint(0, 3, (k, 1)), np.random.rand(k, 4)), 1) for k in np.random.randint(1, 4, n)]

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, index):
        nl = len(self.labels[index])
        labels_out = torch.zeros((nl, 6))
        labels_out[:, 1:] = torch.from_numpy(self.labels[index])
        return torch.from_numpy(self.imgs[index]), labels_out

    @staticmethod
    def collate_fn(batch):
        im, label = zip(*batch)  # transposed
        for i, lb in enumerate(label):
            lb[:, 0] = i  # add target image index for build_targets()
        return torch.stack(im, 0), torch.cat(label, 0)


def train(hyp, opt, device):
    model = DetectionModel(nc=3).to(device)  # create
    model.hyp = hyp
    optimizer = torch.optim.SGD(model.parameters(), lr=hyp['lr0'], momentum=hyp['momentum'], nesterov=True)
    dataset = LoadImagesAndLabels(8)
    train_loader = DataLoader(dataset, batch_size=opt.batch_size, collate_fn=dataset.collate_fn)
    compute_loss = ComputeLoss(model)  # init loss class
    mloss = torch.zeros(3, device=device)  # mean losses
    for epoch in range(opt.epochs):
        model.train()
        for i, (imgs, targets) in enumerate(train_loader):
            imgs = imgs.to(device, non_blocking=True).float() / 255  # uint8 to float32, 0-255 to 0.0-1.0
            pred = model(imgs)  # forward
            loss, loss_items = compute_loss(pred, targets)  # loss scaled by batch_size
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            mloss = (mloss * i + loss_items) / (i + 1)  # update mean losses
        print(('%10s' + '%10.4g' * 3) % (f'{epoch}/{opt.epochs - 1}', *mloss))


def parse_opt():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=100, help='total training epochs')
    parser.add_argument('--batch-size', type=int, default=4)
    parser.add_argument('--device', default='', help='cuda device, i.e. 0 or 0,1,2,3 or cpu')
    parser.add_argument('--seed', type=int, default=0, help='Global training seed')
    return parser.parse_args()


def init_seeds(seed=0):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


if __name__ == '__main__':
    opt = parse_opt()
    init_seeds(opt.seed)
    device = torch.device('cuda:0' if opt.device != 'cpu' and torch.cuda.is_available() else 'cpu')
    train({'lr0': 0.01, 'momentum': 0.9, 'box': 0.05, 'cls': 0.5, 'cls_pw': 1.0, 'obj_pw': 1.0}, opt, device)
