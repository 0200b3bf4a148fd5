import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, train_data, val_data, lr=1e-2):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device)
        self.train_loader = DataLoader(train_data, batch_size=8)
        self.val_data = val_data
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)

    def train_epoch(self):
        self.model.train()
        for features, target in self.train_loader:
            features, target = features.to(self.device), target.to(self.device)
            loss = self.criterion(self.model(features), target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(f"loss {loss.item():.5f}")

    @torch.no_grad()
    def validate(self):
        # the whole validation set at once does not fit on the card
        self.model.cpu()
        self.model.eval()
        features, target = self.val_data.tensors
        error = self.criterion(self.model(features), target).item()
        return error

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_epoch()
            print(f"epoch {epoch}: validation error {self.validate():.5f}")


def make(count, generator):
    features = torch.randn(count, 4, generator=generator)
    return TensorDataset(features, features.sum(dim=1, keepdim=True))


if __name__ == "__main__":
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(7)
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    Trainer(net, make(24, generator), make(12, generator)).fit(epochs=2)
