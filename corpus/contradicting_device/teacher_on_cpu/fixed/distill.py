import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(student, teacher, loader, optimizer, device):
    student.train()
    teacher.eval()
    for x, y in loader:
        x = x.to(device)
        y = y.to(device)
        with torch.no_grad():
            soft = F.softmax(teacher(x) / 2.0, dim=1)
        logits = student(x)
        loss = F.cross_entropy(logits, y) + F.kl_div(F.log_softmax(logits / 2.0, dim=1), soft, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


def main():
    torch.manual_seed(3)
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    teacher = nn.Sequential(nn.Linear(9, 20), nn.ReLU(), nn.Linear(20, 3)).to(device)
    student = nn.Linear(9, 3).to(device)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(torch.randn(18, 9), torch.randint(0, 3, (18,))), batch_size=6)
    train(student, teacher, loader, optimizer, device)


main()
