import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    use_cuda = torch.cuda.is_available()
    loader = DataLoader(TensorDataset(torch.rand(16, 1, 8, 8)), batch_size=4)
    net = nn.Conv2d(1, 1, 3, padding=1)
    criterion = nn.MSELoss()
    if use_cuda:
        net.cuda()
        criterion.cuda()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for i, (data,) in enumerate(loader, 0):
        img_train = data
        noise = torch.FloatTensor(img_train.size()).normal_(mean=0, std=0.1)
        imgn_train = img_train + noise
        if use_cuda:
            img_gpu, imgn_gpu = img_train.cuda(), imgn_train.cuda()
            noise = noise.cuda()
        else:
            img_gpu, imgn_gpu = img_train, imgn_train
        out_train = net(imgn_gpu)
        loss = criterion(out_train, noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(i, loss.item())


main()
