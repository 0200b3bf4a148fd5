"""The rules of devfix, one file each, in folders by the first digit of their codes.

In:  the observations of one program (:mod:`devfix.analysis.observations`).
Out: findings with fixes (:mod:`devfix.model`).
May import: ``devfix.model``, ``syntax``, ``models``, ``analysis``, ``rules`` and ``fixes``.

:mod:`devfix.rules.registry` loads every module with a constant ``RULE``.  Importing a rule never imports LibCST; the
LibCST command of a rule is made on demand.
"""
