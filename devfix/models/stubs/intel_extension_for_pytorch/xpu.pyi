"""Availability of ``intel_extension_for_pytorch.xpu``."""

from torch.cuda import is_available as is_available

# https://intel.github.io/intel-extension-for-pytorch/xpu/latest/tutorials/api_doc.html
