"""The abstract domain: devices, values, heap objects, origins, program points, states and their joins.

In: syntax trees and models.  Out: immutable values, a :class:`devfix.analysis.domain.state.State` that forks and
joins, and :mod:`devfix.analysis.domain.protocol`, the interface of the interpreter for transfer functions.

May import :mod:`devfix.model`, :mod:`devfix.syntax` and :mod:`devfix.models`, and nothing else of
:mod:`devfix.analysis` except in annotations: ``scopes`` and ``scenarios`` build on the domain, transfer functions
(``transfer``, ``stdlib``, ``torch``, ``overlays``) on those, the interpreter on all of them.
"""
