"""Tolerances of comparisons with a real accelerator, whose kernels round differently; the simulator has none."""

from __future__ import annotations

__all__ = [
    *(
        "ABSOLUTE",
        "DISTANCE_FACTOR",
        "EARLY_RELATIVE",
        "LOW_PRECISION",
        "NORM_RATIO",
        "RELATIVE",
        "RELATIVE_IN_FLOAT64",
    ),
    *("RELATIVE_OF_RESULTS", "SAME_DIRECTION", "SLACK"),
]

#: Absolute tolerance; relative tolerance up to and including a step, and after it (measured on three networks with
#: reordered sums: 2e-7 in 5 steps, 9e-7 in 20, 8e-5 in 50).
ABSOLUTE = 1e-5
EARLY_RELATIVE = (5, 1e-4)
RELATIVE = 1e-3

#: Relative tolerance below 32 bits; TF32 has the mantissa of float16.
LOW_PRECISION = {"float16": 1e-2, "bfloat16": 1.6e-2, "tf32": 1e-2}

#: Relative tolerance of losses in float64.
RELATIVE_IN_FLOAT64 = 1e-6

#: ``same()``: allowed multiple of the reference's own distance to float64, and additional slack.
DISTANCE_FACTOR, SLACK = 3.0, 1e-4 / 10

#: Least cosine similarity of the parameter updates of two runs, as PyTorch's benchmarks require.
SAME_DIRECTION = 0.99

#: Relative tolerance of results (printed numbers, numbers in files): training amplifies rounding errors.
RELATIVE_OF_RESULTS = max(LOW_PRECISION.values())

#: Largest ratio of the norms of all arrays of a file, and of its inverse.
NORM_RATIO = 1.05
