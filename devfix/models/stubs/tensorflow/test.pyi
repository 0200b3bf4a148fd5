"""TensorFlow's question for an accelerator, which notebooks ask before they use PyTorch."""

# https://www.tensorflow.org/api_docs/python/tf/test/gpu_device_name
def gpu_device_name() -> Device[accelerator]: ...
