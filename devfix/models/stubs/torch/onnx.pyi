"""Functions that read their arguments and move nothing."""

# https://docs.pytorch.org/docs/stable/onnx.html
def export(model, args=..., *rest, **kwargs) -> Overlay: ...

# https://docs.pytorch.org/docs/stable/onnx_torchscript.html
def is_in_onnx_export() -> Literal[False]: ...

# https://docs.pytorch.org/docs/stable/onnx.html
def __getattr__(*args, **kwargs) -> Any: ...
