import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
n_gpus = torch.cuda.device_count()
student = nn.Linear(6, 3)
teacher = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3)).eval()
if n_gpus > 1:
    student.cuda(0)
    teacher.cuda(1)
optimizer = torch.optim.SGD(student.parameters(), lr=0.3)

for it in range(4):
    x = torch.randn(32, 6)
    with torch.no_grad():
        soft = teacher(x.cuda(1) if n_gpus > 1 else x)
    if n_gpus > 1:
        x = x.cuda(0)
    loss = F.mse_loss(student(x), soft.to(x.device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, float(loss))
