import argparse
import os

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

from model import BDRAR

ckpt_path = './ckpt'
exp_name = 'BDRAR'

args = {
    'iter_num': 4,
    'train_batch_size': 4,
    'last_iter': 0,
    'lr': 5e-3,
    'lr_decay': 0.9,
    'weight_decay': 5e-4,
    'momentum': 0.9,
    'snapshot': '',
}

parser = argparse.ArgumentParser()
parser.add_argument('--snapshot', default='')
parser.add_argument('--iter_num', type=int, default=4)
args.update(vars(parser.parse_args()))

torch.manual_seed(2021)
device = torch.device('cuda:0') if torch.cuda.is_available() else torch.device('cpu')
train_set = TensorDataset(torch.rand(8, 3, 8, 8), (torch.rand(8, 1, 8, 8) > 0.7).float())
train_loader = DataLoader(train_set, batch_size=args['train_batch_size'], shuffle=True)
bce_logit = nn.BCEWithLogitsLoss().to(device)


def main():
    net = BDRAR().to(device).train()

    optimizer = optim.SGD([
        {'params': [param for name, param in net.named_parameters() if name[-4:] == 'bias'],
         'lr': 2 * args['lr']},
        {'params': [param for name, param in net.named_parameters() if name[-4:] != 'bias'],
         'lr': args['lr'], 'weight_decay': args['weight_decay']}
    ], momentum=args['momentum'])

    if len(args['snapshot']) > 0:
        print('training resumes from \'%s\'' % args['snapshot'])
        net.load_state_dict(torch.load(os.path.join(ckpt_path, exp_name, args['snapshot'] + '.pth')))
        optimizer.load_state_dict(torch.load(os.path.join(ckpt_path, exp_name, args['snapshot'] + '_optim.pth')))
        args['last_iter'] = int(args['snapshot'])

    os.makedirs(os.path.join(ckpt_path, exp_name), exist_ok=True)
    train(net, optimizer)


def train(net, optimizer):
    curr_iter = args['last_iter']
    while True:
        for inputs, labels in train_loader:
            optimizer.param_groups[0]['lr'] = 2 * args['lr'] * (1 - curr_iter / 10) ** args['lr_decay']
            optimizer.param_groups[1]['lr'] = args['lr'] * (1 - curr_iter / 10) ** args['lr_decay']

            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            fuse_predict, high_predict = net(inputs)
            loss = bce_logit(fuse_predict, labels) + bce_logit(high_predict, labels)
            loss.backward()
            optimizer.step()

            curr_iter += 1
            print('[iter %d], [train loss %.5f]' % (curr_iter, loss.item()))
            if curr_iter >= args['last_iter'] + args['iter_num']:
                torch.save(net.state_dict(), os.path.join(ckpt_path, exp_name, '%d.pth' % curr_iter))
                torch.save(optimizer.state_dict(), os.path.join(ckpt_path, exp_name, '%d_optim.pth' % curr_iter))
                return


if __name__ == '__main__':
    main()
