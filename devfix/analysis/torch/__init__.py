"""Transfer functions for PyTorch: modules, tensors, optimizers, data loading, checkpoints, process groups.

Input: calls of PyTorch functions, by model name (:mod:`devfix.models`), and methods and attributes of PyTorch objects.
Output: abstract values with devices and origins, and observations.

May import :mod:`devfix.analysis.domain`, :mod:`devfix.analysis.stdlib`, the device check and device arguments in
:mod:`devfix.analysis.transfer`, and the observation modules of :mod:`devfix.analysis`.
"""
