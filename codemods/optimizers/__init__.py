"""Rules for optimizers and leaf tensors (DEV4xx).

- DEV401 optimizer-order: an optimizer constructed or restored before the parameters are moved or replaced.
- DEV402 leaf-moved: a parameter moved after its creation.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
