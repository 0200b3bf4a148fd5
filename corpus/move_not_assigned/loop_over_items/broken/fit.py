import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)


class Fit:
    def __init__(self, model, device):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.RMSprop(model.parameters())

    def step(self, batch):
        for tensor in batch:
            tensor = tensor.to(self.device)
        x, y = batch
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


fit = Fit(nn.Linear(3, 1), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
for batch in DataLoader(TensorDataset(torch.randn(12, 3), torch.randn(12, 1)), batch_size=3):
    print(fit.step(batch))
