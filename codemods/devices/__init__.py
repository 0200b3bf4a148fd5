"""Rules for the choice of the device (DEV5xx).

- DEV501 contradicting-device: a hard-coded device that conflicts with the chosen one.
- DEV502 second-accelerator: an operation on two accelerators.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
