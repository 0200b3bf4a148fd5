"""Models: the effect on devices of functions and classes outside the project, as data.

In: the full name of a callable (``torch.nn.Linear``), or the last name of a method or flag.  Out: its
:class:`Model <devfix.models.index.Model>`, with signatures in the words of the stubs, which
:mod:`devfix.analysis.transfer` interprets.
Stubs of projects and packages come before those in ``stubs/``, and these before the generated table ``aten.json``.

May import :mod:`devfix.model`, :mod:`devfix.sources` and :mod:`devfix.syntax`, nothing that interprets code.
"""
