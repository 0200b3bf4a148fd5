import torch
from torch import nn, optim


def mlp(width):
    return nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 4))


def distill(student, teacher, device, steps):
    optimizer = optim.Adam(student.parameters(), lr=1e-2)
    for step in range(steps):
        x = torch.randn(10, 6).to(device)
        with torch.no_grad():
            goal = teacher(x)
        loss = nn.functional.mse_loss(student(x), goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{step} {loss.item():.6f}")


if __name__ == "__main__":
    torch.manual_seed(7)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    student = mlp(8).to(device)
    teacher = mlp(32).eval().to(device)
    distill(student, teacher, device, 4)
