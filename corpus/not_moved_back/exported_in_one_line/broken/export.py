import torch


def export_weights(module, path):
    torch.save(module.cpu().state_dict(), path)
