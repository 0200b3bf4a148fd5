"""Hugging Face Accelerate."""

# https://huggingface.co/docs/accelerate/package_reference/accelerator
class Accelerator(Overlay): ...

# https://huggingface.co/docs/accelerate/package_reference/launchers
def notebook_launcher(function: Callable, args=..., *rest, **kwargs) -> Overlay: ...
