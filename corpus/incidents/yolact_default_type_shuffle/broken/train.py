import argparse

import torch
import torch.nn as nn
import torch.optim as optim
import torch.utils.data as data


def str2bool(v):
    return v.lower() in ("yes", "true", "t", "1")


parser = argparse.ArgumentParser(description='Toy Training Script')
parser.add_argument('--batch_size', default=8, type=int, help='Batch size for training')
parser.add_argument('--cuda', default=True, type=str2bool, help='Use CUDA to train model')
parser.add_argument('--lr', default=1e-2, type=float, help='Initial learning rate.')
args = parser.parse_args()

if torch.cuda.is_available():
    if args.cuda:
        torch.set_default_tensor_type('torch.cuda.FloatTensor')
    if not args.cuda:
        print("WARNING: It looks like you have a CUDA device, but aren't using CUDA.")
        torch.set_default_tensor_type('torch.FloatTensor')
else:
    torch.set_default_tensor_type('torch.FloatTensor')


class ShapesDetection(data.Dataset):
    def __init__(self, number):
        self.images = torch.rand(number, 3, 8, 8)
        self.labels = torch.randint(4, (number,))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 3, stride=2)
        self.prediction = nn.Linear(8, 4)

    def forward(self, x):
        return self.prediction(torch.relu(self.backbone(x)).mean((2, 3)))


def train():
    torch.manual_seed(664)
    dataset = ShapesDetection(24)
    net = Net()
    net.train()
    if args.cuda and torch.cuda.is_available():
        net = net.cuda()
    optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    data_loader = data.DataLoader(dataset, args.batch_size,
                                  num_workers=0,
                                  shuffle=True)

    iteration = 0
    for epoch in range(2):
        for datum in data_loader:
            images, targets = datum
            optimizer.zero_grad()
            loss = criterion(net(images), targets)
            loss.backward()
            optimizer.step()
            print('[%3d] %7d || T: %.3f' % (epoch, iteration, loss.item()))
            iteration += 1


if __name__ == '__main__':
    train()
