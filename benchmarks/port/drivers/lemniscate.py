import torch


class Images(torch.utils.data.Dataset):
    def __init__(self):
        self.images = torch.randn(12, 3, 32, 32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], index % 3, index


def product(first, second):
    """As in PyTorch 0.4, where gradOutput.data.resize_ also changed gradOutput."""
    return bmm(first.unsqueeze(1) if first.dim() == 2 else first, second)


torch.manual_seed(0)
bmm, torch.bmm = torch.bmm, product
import models
from lib.LinearAverage import LinearAverage
from lib.NCEAverage import NCEAverage
from lib.NCECriterion import NCECriterion
from lib.utils import AverageMeter

trainloader = torch.utils.data.DataLoader(Images(), batch_size=4, shuffle=True)
ndata = len(trainloader.dataset)


def train(net, lemniscate, criterion):
    net = torch.nn.DataParallel(net).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9, weight_decay=5e-4)
    train_loss = AverageMeter()
    net.train()
    for batch_idx, (inputs, targets, indexes) in enumerate(trainloader):
        inputs, targets, indexes = inputs.cuda(), targets.cuda(), indexes.cuda()
        optimizer.zero_grad()
        features = net(inputs)
        outputs = lemniscate(features, indexes)
        loss = criterion(outputs, indexes)
        loss.backward()
        optimizer.step()
        train_loss.update(loss.item(), inputs.size(0))
        print(batch_idx, train_loss.val, train_loss.avg)


def NN(net, lemniscate):
    net.eval()
    trainFeatures = lemniscate.memory.t()
    trainLabels = torch.LongTensor([index % 3 for index in range(ndata)]).cuda()
    correct = 0.
    with torch.no_grad():
        for inputs, targets, indexes in trainloader:
            features = net(inputs.cuda())
            yd, yi = torch.mm(features, trainFeatures).topk(1, dim=1, largest=True, sorted=True)
            candidates = trainLabels.view(1, -1).expand(inputs.size(0), -1)
            retrieval = torch.gather(candidates, 1, yi).view(-1)
            correct += retrieval.eq(targets.cuda()).sum().item()
    return correct / ndata


net = models.__dict__['ResNet18'](low_dim=16)
lemniscate = NCEAverage(16, ndata, 8, 0.1, 0.5).cuda()
criterion = NCECriterion(ndata).cuda()
train(net, lemniscate, criterion)
print("accuracy", NN(net, lemniscate))
lemniscate = LinearAverage(16, ndata, 0.1, 0.5).cuda()
criterion = torch.nn.CrossEntropyLoss().cuda()
train(net, lemniscate, criterion)
print("accuracy", NN(net, lemniscate))
