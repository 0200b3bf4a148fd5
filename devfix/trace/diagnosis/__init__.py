"""The cause of a device error.

In: a :class:`~devfix.trace.failure_trace.FailureTrace`.  Out: a
:class:`~devfix.trace.diagnosis.diagnose.Diagnosis`: the misplaced value, the event that put it on its device, and the
cause with the rule that explains it.

May import model, rules and the modules of ``devfix.trace`` beside this package.
"""
