"""Transfer functions of Python's constructs, one module per construct: expressions, statements, calls, loops.

In: an AST node and an interpreter (:class:`devfix.analysis.domain.protocol.Interpreter`) with the current state.  Out:
the abstract value of the node; effects go to the state, events to :class:`devfix.analysis.observations.Observations`.

May import :mod:`devfix.analysis.domain`, ``scopes``, ``scenarios``, the modules that record observations, and the
transfer functions of libraries (``stdlib``, ``torch``, ``overlays``); never :mod:`devfix.analysis.interpreter`.
"""
