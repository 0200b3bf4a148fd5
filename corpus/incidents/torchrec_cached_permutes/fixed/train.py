import torch
from torch import nn

from modules.embedding import EmbeddingBagCollection
from modules.regroup import KTRegroupAsDict


class SparseNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.user = EmbeddingBagCollection({"age": 3, "city": 4}, rows=12)
        self.item = EmbeddingBagCollection({"brand": 4, "shop": 2}, rows=12)
        self.regroup = KTRegroupAsDict([["city", "shop"], ["brand", "age"]], ["place", "taste"])
        self.over = nn.ModuleDict({"place": nn.Linear(6, 1), "taste": nn.Linear(7, 1)})

    def forward(self, features):
        out = self.regroup([self.user(features), self.item(features)])
        return sum(self.over[name](value) for name, value in out.items()).squeeze(1)


def make_batch(size, device):
    return (
        {name: torch.randint(12, (size, 3)).to(device) for name in ("age", "city", "brand", "shop")},
        torch.randint(2, (size,)).float().to(device),
    )


def main():
    torch.manual_seed(2253)
    device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
    model = SparseNN()
    model.eval()
    with torch.no_grad():
        model(make_batch(2, "cpu")[0])  # lazy parts are made before the model is sharded
    model = model.to(device)
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(4):
        features, labels = make_batch(8, device)
        loss = nn.functional.binary_cross_entropy_with_logits(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
