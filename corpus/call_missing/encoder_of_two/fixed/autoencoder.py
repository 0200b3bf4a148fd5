import torch
from torch import nn


class Autoencoder:
    def __init__(self, size, code):
        self.encoder = nn.Linear(size, code)
        self.decoder = nn.Linear(code, size)
        self.parameters = [*self.encoder.parameters(), *self.decoder.parameters()]

    def to_gpu(self):
        self.encoder.cuda()
        self.decoder.cuda()


torch.manual_seed(5)
has_gpu = torch.cuda.is_available()
model = Autoencoder(6, 2)
if has_gpu:
    model.to_gpu()
optimizer = torch.optim.SGD(model.parameters, lr=0.1)
for step in range(5):
    x = torch.randn(7, 6)
    x = x.cuda() if has_gpu else x
    loss = (model.decoder(torch.relu(model.encoder(x))) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
