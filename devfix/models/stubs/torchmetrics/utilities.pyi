"""Functions that read their arguments and move nothing."""

# https://lightning.ai/docs/torchmetrics/stable/
def __getattr__(*args, **kwargs) -> Any: ...
