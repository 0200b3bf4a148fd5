import numpy as np
import torch

from models.yolo import Model
from utils.loss import ComputeLossOTA


def create_batches(n, batch_size, nc):
    rng = np.random.RandomState(7)
    for _ in range(n):
        imgs = torch.from_numpy(rng.randint(0, 255, (batch_size, 3, 16, 16), dtype=np.uint8))
        rows = []
        for i in range(batch_size):
            for _ in range(rng.randint(1, 4)):
                rows.append([i, rng.randint(nc), *rng.uniform(0.2, 0.8, 2), *rng.uniform(0.2, 0.6, 2)])
        yield imgs, torch.tensor(rows, dtype=torch.float32)


def train(device):
    torch.manual_seed(1)
    model = Model(nc=3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.937, nesterov=True)
    compute_loss_ota = ComputeLossOTA(model)
    for i, (imgs, targets) in enumerate(create_batches(4, 3, 3)):
        imgs = imgs.to(device, non_blocking=True).float() / 255.0
        pred = model(imgs)
        loss = compute_loss_ota(pred, targets.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print('%g/%g  loss %.4g' % (i, 3, loss.item()))


if __name__ == '__main__':
    train(torch.device('cuda:0' if torch.cuda.is_available() else 'cpu'))
