"""Repair by running: candidate edits for a traced failure, tried one after the other and proved.

In: a script (:class:`devfix.verify.experiment.Experiment`) and a patch to begin with.  Out: a
:class:`~devfix.trace.repair.search.Repair`, or a :class:`~devfix.trace.repair.proposal.Proposal`.

May import model, syntax, analysis, rules, fixes, rewrite, engine, sources, config, verify and
``devfix.trace.diagnosis``.
"""
