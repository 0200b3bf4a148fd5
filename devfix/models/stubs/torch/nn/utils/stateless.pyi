"""Modules that are called with other parameters."""

# https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.stateless.functional_call.html
def functional_call(module, parameters_and_buffers, args=..., kwargs=..., *, tie_weights=..., strict=...) -> Overlay: ...
