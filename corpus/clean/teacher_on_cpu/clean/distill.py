import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
student_device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
teacher_device = torch.device("cpu")  # too large for the card

teacher = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 4)).to(teacher_device).eval()
student = nn.Linear(6, 4).to(student_device)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)

for step in range(5):
    x = torch.randn(16, 6).to(student_device)
    with torch.no_grad():
        soft = F.softmax(teacher(x.cpu()) / 2.0, dim=1)
    log_p = F.log_softmax(student(x) / 2.0, dim=1)
    loss = F.kl_div(log_p, soft.to(student_device), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
