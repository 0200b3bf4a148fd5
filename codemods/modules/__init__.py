"""Rules for ``nn.Module`` (DEV2xx).

- DEV201 replaced-submodule: a submodule assigned after the model was moved.
- DEV202 tensor-attribute: a tensor attribute that is not a buffer.
- DEV203 module-in-container: modules in a Python list, tuple or dictionary.
- DEV204 module-not-moved: a module that is never moved.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
