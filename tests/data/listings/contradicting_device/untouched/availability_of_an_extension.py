import torch
from torch import nn


def is_xpu_available() -> bool:
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        return True
    try:
        import intel_extension_for_pytorch as ipex

        return ipex.xpu.is_available()
    except ImportError:
        return False


if torch.cuda.is_available():
    x = torch.randn(3, 4, device="cuda")

if torch.cuda.is_available():
    device = torch.device("cuda")
elif is_xpu_available():
    device = torch.device("xpu")
else:
    device = torch.device("cpu")

model = nn.Linear(4, 2).to(device)
print(model(torch.rand(8, 4).to(device)))
