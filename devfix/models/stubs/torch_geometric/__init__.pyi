"""PyTorch Geometric."""

# https://pytorch-geometric.readthedocs.io/en/latest/modules/root.html
def device(*args) -> Device[accelerator]: ...
