import torch
from models import DenseNet
from temperature_scaling import ModelWithTemperature
from torch import nn
from train import run_epoch

torch.manual_seed(0)
model = DenseNet(growth_rate=4, block_config=[2, 2, 2], num_classes=5, small_inputs=True)
model = model.cuda()
images = torch.utils.data.TensorDataset(torch.rand(6, 3, 32, 32), torch.randint(0, 5, (6,)))
loader = torch.utils.data.DataLoader(images, batch_size=2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
criterion = nn.CrossEntropyLoss()
print(run_epoch(loader, model, criterion, optimizer)[1:])
print(run_epoch(loader, model, criterion, optimizer, train=False)[1:])
scaled = ModelWithTemperature(model)
scaled.set_temperature(loader)
print(scaled.temperature.item())
