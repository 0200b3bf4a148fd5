'''
 * Fine-tune a tagging model
'''
import argparse
import json
import random
import time

import numpy as np
import torch
from torch import nn

import logger as utils
from ram.data import create_dataset, create_loader
from ram.models import ram_plus, tag_base


def cosine_lr_schedule(optimizer, epoch, max_epoch, init_lr, min_lr):
    lr = (init_lr - min_lr) * 0.5 * (1. + np.cos(np.pi * epoch / max_epoch)) + min_lr
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr


def train_tag_plus(model, data_loader, optimizer, epoch, device, config, model_clip):
    # train
    model.train()

    metric_logger = utils.MetricLogger(delimiter="  ")
    metric_logger.add_meter('loss', utils.SmoothedValue(fmt='{avg:.4f}'))
    header = 'Train Epoch: [{}]'.format(epoch)
    print_freq = 1

    for i, (image, image_224, caption, image_tag, parse_tag) in enumerate(metric_logger.log_every(data_loader, print_freq, header)):
        cosine_lr_schedule(optimizer, epoch, config['max_epoch'], config['init_lr'], config['min_lr'])

        optimizer.zero_grad()

        image = image.to(device, non_blocking=True)
        image_224 = image_224.to(device, non_blocking=True)

        with torch.no_grad():
            clip_image_feature = model_clip(image_224).mean(1)

        loss_tag, loss_dis = model(image, caption, image_tag, clip_image_feature, parse_tag)
        loss = loss_tag + loss_dis

        loss.backward()
        optimizer.step()

        metric_logger.update(loss=loss.item())

    print("Averaged stats:", metric_logger.global_avg())


def train_tag_base(model, data_loader, optimizer, epoch, device, config):
    # train
    model.train()

    metric_logger = utils.MetricLogger(delimiter="  ")
    metric_logger.add_meter('loss', utils.SmoothedValue(fmt='{avg:.4f}'))
    header = 'Train Epoch: [{}]'.format(epoch)

    for i, (image, _, caption, image_tag, _) in enumerate(metric_logger.log_every(data_loader, 1, header)):
        cosine_lr_schedule(optimizer, epoch, config['max_epoch'], config['init_lr'], config['min_lr'])

        optimizer.zero_grad()

        image = image.to(device, non_blocking=True)

        loss = model(image, image_tag)

        loss.backward()
        optimizer.step()

        metric_logger.update(loss=loss.item())

    print("Averaged stats:", metric_logger.global_avg())


def main(args, config):
    device = torch.device(args.device)

    # fix the seed for reproducibility
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    random.seed(args.seed)

    #### Dataset ####
    print("Creating dataset")
    data_loader = create_loader(create_dataset(config), config['batch_size'], is_train=True)

    #### Model ####
    print("Creating model")
    if args.model_type == 'plus':
        model_clip = nn.Sequential(nn.Conv2d(3, 16, 4, stride=4), nn.Flatten(2))
        model_clip = ClipLike(model_clip).to(device)
        model_clip.eval()
        model = ram_plus(config['num_class'])
    else:
        model = tag_base(config['num_class'])
    model = model.to(device)

    optimizer = torch.optim.AdamW(filter(lambda x: x.requires_grad, model.parameters()), lr=config['init_lr'],
                                  weight_decay=config['weight_decay'])

    start_time = time.time()
    for epoch in range(0, config['max_epoch']):
        if args.model_type == 'plus':
            train_tag_plus(model, data_loader, optimizer, epoch, device, config, model_clip)
        else:
            train_tag_base(model, data_loader, optimizer, epoch, device, config)
    assert time.time() >= start_time


class ClipLike(nn.Module):
    """A frozen image encoder, as it would come from another package."""

    def __init__(self, trunk):
        super().__init__()
        self.trunk = trunk

    def forward(self, image):
        return self.trunk(image).transpose(1, 2)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--config', default='config.json')
    parser.add_argument('--model-type', default='plus', choices=('plus', 'base'))
    parser.add_argument('--device', default='cuda' if torch.cuda.is_available() else 'cpu')
    parser.add_argument('--seed', default=42, type=int)
    args = parser.parse_args()

    with open(args.config) as f:
        config = json.load(f)
    main(args, config)
