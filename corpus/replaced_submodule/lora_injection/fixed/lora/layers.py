import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha=1.0):
        super().__init__()
        self.linear = linear
        self.lora_down = nn.Linear(linear.in_features, rank, bias=False)
        self.lora_up = nn.Linear(rank, linear.out_features, bias=False)
        self.scale = alpha / rank
        nn.init.normal_(self.lora_down.weight, std=1 / rank)
        nn.init.zeros_(self.lora_up.weight)

    def forward(self, x):
        return self.linear(x) + self.lora_up(self.lora_down(x)) * self.scale


def inject_lora(module, rank, targets):
    count = 0
    for name in targets:
        child = getattr(module, name)
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child, rank))
            count += 1
    return count


def trainable(module):
    return [p for p in module.parameters() if p.requires_grad]
