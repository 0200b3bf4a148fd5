"""Runtime tracing: run a script once, explain its device error, and search for a fix by running.

In: a script with its arguments (:class:`devfix.verify.experiment.Experiment`), or a log.  Out: a
:class:`~devfix.trace.tracing.Trace`, a :class:`~devfix.trace.device_map.rows.DeviceMap`, ranked findings for a log, or
a :class:`~devfix.trace.repair.search.Repair`.

May import model, syntax, analysis, rules, fixes, rewrite, engine, sources, config and verify.
"""
