"""Rules for tensors (DEV1xx).

- DEV100 mixed-devices: an operation on several devices whose cause no other rule identifies.
- DEV101 batch-not-moved: tensors of a batch that stay on the CPU.
- DEV102 tensor-without-device: factory functions without ``device=``.
- DEV103 move-not-assigned: a move whose result is discarded.
- DEV104 call-missing: ``.cuda`` without parentheses.
- DEV105 flag-for-device: ``x.cuda(True)``.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
