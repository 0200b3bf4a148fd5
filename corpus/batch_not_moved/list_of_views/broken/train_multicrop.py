import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class MultiCrop(Dataset):
    """Two large and two small crops of every sequence."""

    def __init__(self, n=24):
        g = torch.Generator().manual_seed(1)
        self.x = torch.randn(n, 3, 16, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        crops = [x, x.flip(-1)]
        crops += [x[:, :8], x[:, 8:]]
        return crops, i % 3


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3, padding=1)
        self.head = nn.Linear(8, 6)

    def forward(self, crops):
        return [self.head(F.gelu(self.conv(c)).mean(-1)) for c in crops]


def consistency(outputs):
    target = F.softmax(outputs[0].detach() / 0.1, dim=-1)
    return sum(-(target * F.log_softmax(o, dim=-1)).sum(-1).mean() for o in outputs[1:]) / (len(outputs) - 1)


def main():
    torch.manual_seed(3)
    loader = DataLoader(MultiCrop(), batch_size=8, shuffle=True, drop_last=True)
    student = Student().to(device)
    opt = torch.optim.AdamW(student.parameters(), lr=1e-2)
    for epoch in range(2):
        for crops, _ in loader:
            outputs = student(crops)
            loss = consistency(outputs)
            opt.zero_grad()
            loss.backward()
            opt.step()
            print(f"epoch {epoch}: {loss.item():.6f}")


if __name__ == "__main__":
    main()
