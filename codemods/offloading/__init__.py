"""Rules for modules that are moved to the CPU temporarily (DEV7xx).

- DEV701 not-moved-back: a module that is moved to the CPU and not back.

May import ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.
"""
