"""Rules for APIs that require CPU tensors or a generator on the right device (DEV6xx).

- DEV601 needs-cpu: NumPy and other libraries that read CPU memory.
- DEV602 must-stay-on-cpu: PyTorch APIs that require CPU tensors.
- DEV603 generator-device: a ``torch.Generator`` on another device than the tensors it fills.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
