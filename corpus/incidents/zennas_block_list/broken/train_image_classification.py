import argparse
import logging
import sys

import torch

from PlainNet.masternet import PlainNet


def parse_cmd_options(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument('--plainnet_struct', type=str)
    parser.add_argument('--num_classes', type=int, default=7)
    parser.add_argument('--gpu', type=int, default=0)
    parser.add_argument('--epochs', type=int, default=2)
    return parser.parse_args(argv)


def train_one_epoch(opt, model, criterion, optimizer, batches, epoch):
    model.train()
    for i, (inputs, target) in enumerate(batches):
        if torch.cuda.is_available():
            inputs = inputs.cuda(opt.gpu, non_blocking=True)
            target = target.cuda(opt.gpu, non_blocking=True)
        loss = criterion(model(inputs), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logging.info('epoch %d iter %d loss %.4f', epoch, i, loss.item())


def main(argv):
    logging.basicConfig(level=logging.INFO)
    opt = parse_cmd_options(argv)
    torch.manual_seed(77)
    model = PlainNet(num_classes=opt.num_classes, plainnet_struct=opt.plainnet_struct)
    if torch.cuda.is_available():
        torch.cuda.set_device(opt.gpu)
        model = model.cuda(opt.gpu)
    logging.info(str(model))
    batches = [(torch.rand(6, 3, 12, 12), torch.randint(opt.num_classes, (6,))) for _ in range(2)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for epoch in range(opt.epochs):
        train_one_epoch(opt, model, torch.nn.functional.cross_entropy, optimizer, batches, epoch)


if __name__ == '__main__':
    main(sys.argv[1:])
