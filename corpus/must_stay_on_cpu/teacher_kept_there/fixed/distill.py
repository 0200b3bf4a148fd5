import torch
import torch.nn as nn
import torch.nn.functional as F


class Distiller:
    def __init__(self, student, teacher, device):
        self.device = device
        self.student = student.to(device)
        self.teacher = teacher.cpu().eval()
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.1)

    def step(self, x):
        x = x.to(self.device)
        with torch.no_grad():
            soft = self.teacher(x.cpu()).to(self.device)
        loss = F.mse_loss(self.student(x), soft)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (nn.Linear(6, 6), nn.GELU())]
    student = nn.Sequential(*layers, nn.Linear(6, 2))
    distiller = Distiller(student, nn.Linear(6, 2), device)
    for _ in range(4):
        print(distiller.step(torch.randn(8, 6)))


main()
