import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
sequences = torch.nested.nested_tensor([torch.ones(2, 6), torch.ones(3, 6)], device=device)
print(
    sequences.device.type == device.type, (sequences.to_padded_tensor(0.0) + torch.ones(6, device=device)).sum().item()
)
