"""The device error in a traceback or log, without a run.

In: text of a log and a project.  Out: a :class:`~devfix.trace.log.ranking.LogTrace`: the error, its frames in the
project, and the findings of the static rules, the likeliest cause first.

May import model, rules, engine, sources, config, verify and ``devfix.trace.diagnosis``.
"""
