import torch
from safetensors.torch import save_file

save_file({"weight": torch.ones(2, 4), "bias": torch.zeros(2)}, "head.safetensors")
save_file({"scale": torch.linspace(1, 2, 4)}, "scale.safetensors")
