"""Another name of the scaler."""

from torch.cuda.amp import GradScaler as GradScaler
