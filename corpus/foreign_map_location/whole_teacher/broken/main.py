import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def pretrain():
    teacher = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3)).to(device)
    torch.save(teacher, "teacher.pt")


def distill():
    teacher = torch.load("teacher.pt", map_location="cpu", weights_only=False)
    teacher.eval()
    student = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
    for step in range(3):
        x = torch.randn(8, 6).to(device)
        with torch.no_grad():
            target = teacher(x).softmax(1)
        loss = F.kl_div(F.log_softmax(student(x), dim=1), target, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if "--pretrain" in sys.argv:
    pretrain()
else:
    distill()
