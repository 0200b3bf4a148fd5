import argparse
import collections

import numpy as np
import torch
import torch.optim as optim

from detector import losses, model


def main(args=None):
    parser = argparse.ArgumentParser(description='Simple script for training a toy detector.')
    parser.add_argument('--epochs', type=int, default=3)
    parser = parser.parse_args(args)

    np.random.seed(0)
    torch.manual_seed(0)
    retinanet = model.Tiny(num_classes=3)

    use_gpu = True
    if use_gpu:
        if torch.cuda.is_available():
            retinanet = retinanet.cuda()

    retinanet.training = True
    optimizer = optim.Adam(retinanet.parameters(), lr=1e-3)
    focal_loss = losses.FocalLoss()
    loss_hist = collections.deque(maxlen=500)

    for epoch_num in range(parser.epochs):
        retinanet.train()
        for iter_num in range(2):
            img = torch.rand(2, 3, 8, 8)
            annot = np.full((2, 2, 5), -1.0, dtype=np.float32)
            annot[:, 0] = [1, 1, 5, 5, 1]
            annot[0, 1] = [3, 3, 7, 7, 2]
            annot = torch.from_numpy(annot)
            optimizer.zero_grad()
            if torch.cuda.is_available():
                classification, regression, anchors = retinanet(img.cuda().float())
                annot = annot.cuda()
            else:
                classification, regression, anchors = retinanet(img.float())
            classification_loss, regression_loss = focal_loss(classification, regression, anchors, annot)
            loss = classification_loss + regression_loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(retinanet.parameters(), 0.1)
            optimizer.step()
            loss_hist.append(float(loss))
            print('Epoch: {} | Iteration: {} | Running loss: {:1.5f}'.format(epoch_num, iter_num, np.mean(loss_hist)))


if __name__ == '__main__':
    main()
