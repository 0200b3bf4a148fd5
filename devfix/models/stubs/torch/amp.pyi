"""Mixed precision on any device."""

from torch.cuda.amp import GradScaler as GradScaler

# https://docs.pytorch.org/docs/stable/amp.html
def __getattr__(*args, **kwargs) -> Of[args]: ...
