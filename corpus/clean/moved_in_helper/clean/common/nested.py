import torch


def send_to(item, device):
    if isinstance(item, torch.Tensor):
        return item.to(device)
    if isinstance(item, dict):
        return {key: send_to(value, device) for key, value in item.items()}
    if isinstance(item, (tuple, list)):
        return [send_to(value, device) for value in item]
    return item
