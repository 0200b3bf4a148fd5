"""Availability of ``torch.xpu``."""

from torch.cuda import is_available as is_available

# https://docs.pytorch.org/docs/stable/generated/torch.cuda.is_available.html
def __getattr__(*args, **kwargs) -> Any: ...
