import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 10, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        return {"x": x, "targets": {"depth": x[:3].sum(), "label": (x[3] > 0).long(), "boxes": x[4:8].abs()}, "name": f"scene{i}"}


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 24), nn.SiLU())
        self.heads = nn.ModuleDict({"depth": nn.Linear(24, 1), "label": nn.Linear(24, 2), "boxes": nn.Linear(24, 4)})

    def forward(self, x):
        hidden = self.trunk(x)
        return {name: head(hidden) for name, head in self.heads.items()}


class UncertaintyLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_variance = nn.Parameter(torch.zeros(3))

    def forward(self, outputs, targets):
        losses = torch.stack(
            [
                nn.functional.mse_loss(outputs["depth"].squeeze(1), targets["depth"]),
                nn.functional.cross_entropy(outputs["label"], targets["label"]),
                nn.functional.smooth_l1_loss(outputs["boxes"], targets["boxes"]),
            ]
        )
        return (losses * torch.exp(-self.log_variance) + self.log_variance).sum(), losses.detach()


def main():
    torch.manual_seed(50)
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    model, criterion = MultiTask().to(device), UncertaintyLoss()
    optimizer = torch.optim.Adam(
        [{"params": model.parameters(), "lr": 5e-3}, {"params": criterion.parameters(), "lr": 5e-2}]
    )
    history = []
    for epoch in range(2):
        for batch in DataLoader(Scenes(48, epoch), batch_size=12):
            targets = {key: value.to(device) for key, value in batch["targets"].items()}
            loss, parts = criterion(model(batch["x"].to(device)), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(parts)
    mean = torch.stack(history).mean(0)
    print("depth {:.4f} label {:.4f} boxes {:.4f}".format(*mean.tolist()))
    print("weights", [round(v, 4) for v in criterion.log_variance.tolist()])
    torch.save({"model": model.state_dict(), "criterion": criterion.state_dict(), "history": torch.stack(history)}, "run.pt")


if __name__ == "__main__":
    main()
