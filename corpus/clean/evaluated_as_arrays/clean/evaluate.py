import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@torch.no_grad()
def evaluate(model, loader, device):
    scores, labels = [], []
    for x, y in loader:
        probability = model(x.to(device)).softmax(dim=1)
        scores.append(probability[:, 1].to("cpu"))
        labels.extend(y.tolist())
    scores = np.concatenate(scores)
    return float(((scores > 0.5) == np.asarray(labels)).mean())


def main():
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(TensorDataset(torch.randn(32, 4), torch.randint(0, 2, (32,))), batch_size=8)
    model = nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
    print("accuracy", evaluate(model, loader, device))


if __name__ == "__main__":
    main()
