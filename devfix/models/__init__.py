"""Models: the effect on devices of functions and classes outside the project, as data.

In: the full name of a callable (``torch.nn.Linear``), or the last name of a method or flag.  Out: the name of its
model, a string; :mod:`devfix.analysis.transfer.external_calls` maps each name to a transfer function.  The first row of
:data:`devfix.models.index.TABLE` that matches wins.

The tables are Python modules for now; they become stub data (``.pyi`` and generated JSON).  May import
:mod:`devfix.model` and :mod:`devfix.syntax`, nothing that interprets code.
"""
