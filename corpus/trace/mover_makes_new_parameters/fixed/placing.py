from torch import nn


def place(module, device):
    """Moves leaf by leaf, to keep the peak of memory low."""
    for child in module.children():
        place(child, device)
    for store in ("_parameters", "_buffers"):
        held = getattr(module, store)
        for name, value in list(held.items()):
            moved = value.detach().to(device)
            held[name] = nn.Parameter(moved) if store == "_parameters" else moved
    return module
