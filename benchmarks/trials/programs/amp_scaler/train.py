import torch
from torch import nn
from torch.amp import GradScaler, autocast

device = "cuda" if torch.cuda.is_available() else "cpu"


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)
        self.scale = torch.full((width,), 0.5)

    def forward(self, x):
        return x + self.scale * torch.nn.functional.gelu(self.linear(self.norm(x)))


def build():
    return nn.Sequential(nn.Linear(8, 32), Block(32), Block(32), nn.Linear(32, 5))


def run(steps=8):
    torch.manual_seed(17)
    model = build().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scaler = GradScaler(device, init_scale=256.0, growth_interval=3)
    data = torch.randn(steps, 16, 8)
    labels = data[..., :5].argmax(-1)
    for i in range(steps):
        x, y = data[i].to(device, non_blocking=True), labels[i].to(device, non_blocking=True)
        with autocast(device, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        scaler.step(optimizer)
        scaler.update()
        print("step", i, "loss", f"{loss.item():.6f}", "norm", f"{norm.item():.6f}", "scale", scaler.get_scale())
    return model


if __name__ == "__main__":
    trained = run()
    torch.save({name: value.cpu() for name, value in trained.state_dict().items()}, "weights.pth")
