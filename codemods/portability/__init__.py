"""Programs that run on CUDA only (DEV81x), enabled only by ``devfix port`` or ``--select``.

- DEV811 cuda-only: a hard-coded CUDA device in a program that does not choose its device.
- DEV812 cuda-function: a call of ``torch.cuda`` that fails without CUDA.
- DEV813 cuda-mixed-precision: mixed precision by ``torch.cuda.amp``.
- DEV814 nccl-backend: a process group that always uses NCCL.
- DEV815 cuda-required: a check that ends the program without CUDA.
- DEV816 cuda-default: an option or field for a device whose default is CUDA.
- DEV817 cuda-feature: extensions, graphs and packages that exist for CUDA only.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
