"""Rules for distributed programs (DEV8xx).

- DEV801 rank-device: every process uses accelerator 0.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
