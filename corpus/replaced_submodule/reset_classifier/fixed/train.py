#!/usr/bin/env python3
import argparse
import logging
import sys

import torch

from imagenets import create_model

_logger = logging.getLogger('train')

parser = argparse.ArgumentParser(description='Training')
parser.add_argument('model', nargs='?', default='tiny_mixer')
parser.add_argument('--num-classes', type=int, default=None)
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--device', default='cuda' if torch.cuda.is_available() else 'cpu')
parser.add_argument('--seed', type=int, default=42)


def main():
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format='%(message)s')
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = torch.device(args.device)

    model = create_model(args.model, num_classes=1000)
    model.to(device=device)
    _logger.info(f'Model {args.model} created, param count: {sum(p.numel() for p in model.parameters())}')
    if args.num_classes is not None:
        model.reset_classifier(args.num_classes)
        model.to(device=device)

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss_fn = torch.nn.CrossEntropyLoss().to(device=device)
    num_classes = model.num_classes

    for epoch in range(args.epochs):
        for batch_idx in range(3):
            input = torch.rand(8, 16, 12)
            target = input.sum(dim=(1, 2)).long() % num_classes
            input, target = input.to(device), target.to(device)
            loss = loss_fn(model(input), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            _logger.info(f'Train: {epoch} [{batch_idx}/3] Loss: {loss.item():.5f}')


if __name__ == '__main__':
    main()
