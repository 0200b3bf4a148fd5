import torch
from torch import nn
from torch.utils.data import DataLoader

from .timeseries import ShiftedDataset


class BlockModel(nn.Module):
    def __init__(self, input_length, output_length, width=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(input_length, width), nn.ReLU(), nn.Linear(width, output_length))

    def forward(self, x):
        return self.layers(x)


class TorchForecastingModel:
    def __init__(self, n_epochs=2, batch_size=8, torch_device_str=None, random_state=0):
        if torch_device_str is None:
            self.device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')
        else:
            self.device = torch.device(torch_device_str)
        torch.manual_seed(random_state)
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.model = BlockModel(6, 2).to(self.device)

    def fit(self, series):
        train_dataset = ShiftedDataset(series, device=self.device)
        train_loader = DataLoader(train_dataset, batch_size=self.batch_size, shuffle=True, num_workers=0,
                                  pin_memory=False, drop_last=False)
        self._train(train_loader)
        return self

    def _train(self, train_loader):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        for epoch in range(self.n_epochs):
            total_loss = 0
            for batch_idx, (data, target) in enumerate(train_loader):
                self.model.train()
                output = self.model(data)
                loss = nn.functional.mse_loss(output, target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total_loss += loss.item()
            print(f'epoch {epoch} training loss {total_loss / (batch_idx + 1):.4f}')
