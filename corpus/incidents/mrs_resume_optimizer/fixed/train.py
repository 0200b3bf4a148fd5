"""
Train a segmentation network of remote sensing imagery
"""

# Built-in
import argparse
import os

# Pytorch
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

# Own modules
from mrs_utils import misc_utils


class DLinkNet(nn.Module):
    def __init__(self, n_class):
        super(DLinkNet, self).__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU())
        self.decoder = nn.ConvTranspose2d(8, n_class, 2, 2)

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def get_train_params(self, lrs):
        return [{'params': self.encoder.parameters(), 'lr': lrs[0]}, {'params': self.decoder.parameters(), 'lr': lrs[1]}]


def read_flag():
    parser = argparse.ArgumentParser()
    parser.add_argument('--save_dir', default='model')
    parser.add_argument('--gpu', type=int, default=0)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--resume_epoch', type=int, default=None)
    parser.add_argument('--seed', type=int, default=47)
    return parser.parse_args()


def load_epoch(save_dir, resume_epoch, model, optm):
    checkpoint = torch.load(os.path.join(save_dir, 'epoch-{}.pth.tar'.format(resume_epoch)), map_location='cpu')
    model.load_state_dict(checkpoint['state_dict'])
    optm.load_state_dict(checkpoint['opt_dict'])
    print("=> loaded checkpoint of epoch {}".format(checkpoint['epoch']))


def train_model(args, device, parallel):
    reader = DataLoader(TensorDataset(torch.randn(8, 3, 8, 8), torch.randint(2, (8, 8, 8))), batch_size=4)
    model = DLinkNet(2)
    optm = optim.Adam(model.get_train_params((1e-4, 1e-3)), weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()

    start_epoch = 0
    if args.resume_epoch is not None:
        load_epoch(args.save_dir, args.resume_epoch, model, optm)
        start_epoch = args.resume_epoch + 1

    # prepare training
    model.to(device)
    criterion.to(device)
    for state in optm.state.values():
        for k, v in state.items():
            if torch.is_tensor(v):
                state[k] = v.to(device)

    for epoch in range(start_epoch, start_epoch + args.epochs):
        model.train()
        for img, lbl in reader:
            img, lbl = img.to(device), lbl.to(device)
            optm.zero_grad()
            loss = criterion(model(img), lbl)
            loss.backward()
            optm.step()
            print('epoch {} loss {:.4f}'.format(epoch, loss.item()))
        torch.save({'epoch': epoch, 'state_dict': model.state_dict(), 'opt_dict': optm.state_dict()},
                   os.path.join(args.save_dir, 'epoch-{}.pth.tar'.format(epoch)))


def main():
    args = read_flag()
    misc_utils.set_random_seed(args.seed)
    os.makedirs(args.save_dir, exist_ok=True)
    device, parallel = misc_utils.set_gpu(args.gpu)
    train_model(args, device, parallel)


if __name__ == '__main__':
    main()
