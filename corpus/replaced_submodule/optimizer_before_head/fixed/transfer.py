import time

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler

torch.manual_seed(0)

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class FeatureNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(15, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU())
        self.fc = nn.Linear(20, 1000)

    def forward(self, x):
        return self.fc(self.base(x))


def train_model(model, criterion, optimizer, scheduler, data, num_epochs):
    since = time.time()
    for epoch in range(num_epochs):
        model.train()
        for inputs, labels in data:
            inputs = inputs.to(device)
            labels = labels.to(device)
            optimizer.zero_grad()
            with torch.set_grad_enabled(True):
                outputs = model(inputs)
                loss = criterion(outputs, labels)
                loss.backward()
                optimizer.step()
            print('{} Loss: {:.4f}'.format(epoch, loss.item()))
        scheduler.step()
    assert time.time() >= since
    return model


data = []
for _ in range(3):
    x = torch.randn(16, 15)
    data.append((x, (x[:, :5].sum(1) > 0).long()))

model_ft = FeatureNet()
model_ft = model_ft.to(device)

criterion = nn.CrossEntropyLoss()

num_ftrs = model_ft.fc.in_features
model_ft.fc = nn.Linear(num_ftrs, 2)
model_ft = model_ft.to(device)
optimizer_ft = optim.SGD(model_ft.parameters(), lr=0.05, momentum=0.9)
# Decay LR by a factor of 0.1 every 7 epochs
exp_lr_scheduler = lr_scheduler.StepLR(optimizer_ft, step_size=7, gamma=0.1)

model_ft = train_model(model_ft, criterion, optimizer_ft, exp_lr_scheduler, data, num_epochs=2)
