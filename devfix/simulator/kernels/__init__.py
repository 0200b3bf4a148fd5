"""Kernels of the accelerator: which exist, what they check first, and what the CPU cannot compute in their place.

In: ``native_functions.yaml`` of the installed PyTorch, and calls of its functions.  Out: :func:`.table.kernels`,
handlers of functions, and the errors and unsupported features of kernels that a device does not have.
"""
