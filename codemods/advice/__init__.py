"""Advice on correct programs (DEV9xx), enabled only by ``--select``.

- DEV901 device-assertion: no assertion on the model's device before the training loop.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
