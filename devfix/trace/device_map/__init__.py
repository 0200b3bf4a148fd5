"""The devices of modules, optimizers, batches and tensors after the first optimizer step.

In: a script (:class:`devfix.verify.experiment.Experiment`).  Out: a
:class:`~devfix.trace.device_map.survey.Survey` with a :class:`~devfix.trace.device_map.rows.DeviceMap`.

May import verify and ``devfix.trace.failure_trace``.
"""
