import argparse
import os
import random

import torch
from torch import nn

from lib.helpers import resume_checkpoint
from lib.supernet import SuperNet, create_optimizer_supernet


def train_epoch(epoch, model, loader, optimizer, loss_fn, use_cuda):
    model.train()
    for step, (input, target) in enumerate(loader):
        if use_cuda:
            input, target = input.cuda(), target.cuda()
        output = model(input, model.random_path())
        loss = loss_fn(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('Train: {} [{}/{}] Loss: {:.4f}'.format(epoch, step, len(loader), loss.item()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--resume', default='')
    parser.add_argument('--epochs', type=int, default=1)
    args = parser.parse_args()
    random.seed(2)
    torch.manual_seed(2)
    use_cuda = torch.cuda.is_available()

    model = SuperNet()
    if use_cuda:
        model = model.cuda()
    optimizer = create_optimizer_supernet(0.05, model)

    # optionally resume from a checkpoint
    start_epoch = 0
    if args.resume:
        optimizer_state, resume_epoch = resume_checkpoint(model, args.resume)
        optimizer.load_state_dict(optimizer_state['optimizer'])
        start_epoch = resume_epoch

    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
    if use_cuda:
        loss_fn = loss_fn.cuda()

    loader = [(torch.randn(6, 6), torch.randint(4, (6,))) for _ in range(4)]
    os.makedirs('ckps', exist_ok=True)
    for epoch in range(start_epoch, start_epoch + args.epochs):
        train_epoch(epoch, model, loader, optimizer, loss_fn, use_cuda)
        torch.save({'state_dict': model.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': epoch}, 'ckps/search.pth.tar')


if __name__ == '__main__':
    main()
