"""Function transforms by their names before PyTorch 2.0."""

# https://docs.pytorch.org/docs/stable/func.migrating.html
from torch.func import functionalize as functionalize, grad as grad, grad_and_value as grad_and_value
from torch.func import hessian as hessian, jacfwd as jacfwd, jacrev as jacrev, jvp as jvp, vjp as vjp, vmap as vmap

def __getattr__(*args, **kwargs) -> Any: ...
