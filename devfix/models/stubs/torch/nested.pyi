"""Nested tensors: on the device of the tensors in the list."""

# https://docs.pytorch.org/docs/stable/nested.html
def nested_tensor(tensor_list, *, dtype=..., layout=..., device: Device = ..., requires_grad=..., pin_memory=...) -> Like[tensor_list]: ...
