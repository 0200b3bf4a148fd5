"""The rules, one file each, in folders by the first digits of their codes.

In:  the observations of one program (:mod:`devfix.analysis.observations`).
Out: findings with fixes (:mod:`devfix.model`).
May import: ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.

:mod:`devfix.rules.registry` loads every module that defines ``RULE``.  Importing a rule does not import LibCST: its
LibCST command is created on first access.
"""
