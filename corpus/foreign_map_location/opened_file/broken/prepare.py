import torch
from safetensors.torch import save_file

save_file({"keys": torch.eye(4), "values": torch.ones(4, 3)}, "memory.safetensors")
