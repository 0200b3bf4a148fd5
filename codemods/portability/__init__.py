"""Programs that run on CUDA only (DEV81x), enabled only by ``devfix port`` or ``--select``.

- DEV811 cuda-only: a hard-coded CUDA device in a program that does not choose its device.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
