import torch

from safetensors import safe_open


def save_file(tensors, filename, metadata=None):
    with open(filename, "wb") as file:
        torch.save(tensors, file)


def load_file(filename, device="cpu"):
    with safe_open(filename, framework="pt", device=device) as f:
        return {name: f.get_tensor(name) for name in f.keys()}
